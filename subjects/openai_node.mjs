// openai for Node: its own accumulators, `chat.completions.stream` and `responses.stream`.
// /// script
// dependencies = ["openai@7.59.0"]
// [tool.streamproof]
// packages = {"*" = "openai"}
// dialects = ["openai-chat", "openai-responses"]
// omits = {openai-chat = ["reasoning"]}
// ///
import OpenAI from 'openai'
import { CHAT, responded } from './openai_counts.mjs'
import { call, counts, reply, serve } from './streamproof_subject.mjs'

const client = (task) => new OpenAI({ baseURL: task.url('/v1'), timeout: task.timeout, maxRetries: 0 })

async function chat(task) {
  const body = await client(task).chat.completions.stream({ messages: [], ...task.asked(), model: task.model }).finalChatCompletion()
  const [{ message, finish_reason: finish }] = body.choices
  const calls = (message.tool_calls ?? []).map((c) => call(c.id, c.function.name, c.function.arguments))
  return reply({ text: message.content || message.refusal, calls, finish, usage: counts(body.usage, ...CHAT), raw: body })
}

async function responses(task) {
  return responded(await client(task).responses.stream({ ...task.asked(), model: task.model }).finalResponse())
}

await serve({ 'openai-chat': chat, 'openai-responses': responses })
