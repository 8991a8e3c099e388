// What all of LangChain's chat models have in common: the chunks of `stream`, put together with `concat`, as its documentation
// says.
import { call, counts, reply } from './streamproof_subject.mjs'

const COUNTS = ['input_tokens', 'output_tokens', 'total_tokens', 'input_token_details.cache_read']
COUNTS.push('input_token_details.cache_creation', 'output_token_details.reasoning')
const REASONS = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason', 'done_reason', 'status']

export async function run(model, task) {
  const chunks = []
  for await (const chunk of await model.stream(task.prompt)) chunks.push(chunk)
  if (!chunks.length) return reply() // it says nothing at all, and does not fail either
  const body = chunks.reduce((one, other) => one.concat(other))
  const blocks = body.contentBlocks.filter((block) => block.type === 'reasoning')
  const told = { ...body.additional_kwargs, ...body.response_metadata, ...body.response_metadata?.messageStop }
  return reply({
    text: body.text,
    reasoning: blocks.map((block) => block.reasoning ?? '').join(''),
    calls: [...(body.tool_calls ?? []), ...(body.invalid_tool_calls ?? [])].map((c) => call(c.id, c.name, c.args)),
    finish: REASONS.map((name) => told[name]).find((reason) => reason),
    usage: counts(body.usage_metadata, ...COUNTS),
    raw: [body, chunks],
  })
}
