// @anthropic-ai/sdk: its own accumulator, `messages.stream`, and the message that it ends with.
// /// script
// dependencies = ["@anthropic-ai/sdk@1.14.0"]
// [tool.streamproof]
// packages = {"*" = "@anthropic-ai/sdk"}
// dialects = ["anthropic-messages"]
// ///
import Anthropic from '@anthropic-ai/sdk'
import { call, counts, reply, serve } from './streamproof_subject.mjs'

const COUNTS = ['input_tokens', 'output_tokens', null, 'cache_read_input_tokens', 'cache_creation_input_tokens']
COUNTS.push('output_tokens_details.thinking_tokens')

async function messages(task) {
  const client = new Anthropic({ baseURL: task.url(), apiKey: 'none', timeout: task.timeout, maxRetries: 0 })
  const asked = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: task.prompt }] }
  const body = await client.messages.stream(asked).finalMessage()
  const blocks = (type) => body.content.filter((block) => block.type === type)
  return reply({
    text: blocks('text').map((block) => block.text).join(''),
    reasoning: blocks('thinking').map((block) => block.thinking).join(''),
    calls: blocks('tool_use').map((block) => call(block.id, block.name, block.input)),
    finish: body.stop_reason,
    usage: counts(body.usage, ...COUNTS),
    raw: body,
  })
}

await serve({ 'anthropic-messages': messages })
