// ollama for Node: the parts of `chat({ stream: true })`, which its users add up.
// /// script
// dependencies = ["ollama@0.6.4"]
// [tool.streamproof]
// packages = {"*" = "ollama"}
// dialects = ["ollama-chat"]
// omits = {"*" = ["id"]}
// ///
import { Ollama } from 'ollama'
import { call, counts, reply, serve } from './streamproof_subject.mjs'

async function chat(task) {
  const client = new Ollama({ host: task.url() })
  const messages = [{ role: 'user', content: task.prompt }]
  const chunks = []
  for await (const chunk of await client.chat({ model: task.model, messages, stream: true })) chunks.push(chunk)
  const last = chunks.findLast((chunk) => chunk.done)
  const uses = chunks.flatMap((chunk) => chunk.message?.tool_calls ?? [])
  return reply({
    text: chunks.map((chunk) => chunk.message?.content ?? '').join(''),
    reasoning: chunks.map((chunk) => chunk.message?.thinking ?? '').join(''),
    calls: uses.map((use) => call(null, use.function.name, use.function.arguments)),
    finish: last?.done_reason,
    usage: counts(last, 'prompt_eval_count', 'eval_count'),
    raw: chunks,
  })
}

await serve({ 'ollama-chat': chat })
