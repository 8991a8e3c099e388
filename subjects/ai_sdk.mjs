// ai, the AI SDK: `streamText` with its providers, and what its promises hold at the end.
// /// script
// dependencies = ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/google@4.0.121", "@ai-sdk/amazon-bedrock@5.0.101", "@ai-sdk/anthropic@4.0.105", "ai-sdk-ollama@4.3.0", "zod@4.6.7"]
// [tool.streamproof]
// packages = {"*" = "ai", openai-chat = "@ai-sdk/openai", openai-responses = "@ai-sdk/openai", gemini = "@ai-sdk/google", bedrock-converse = "@ai-sdk/amazon-bedrock", ollama-chat = "ai-sdk-ollama", anthropic-messages = "@ai-sdk/anthropic"}
// dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
// omits = {openai-chat = ["reasoning"], ollama-chat = ["id"]}
// ///
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, streamText, tool } from 'ai'
import { createOllama } from 'ai-sdk-ollama'
import { call, counts, reply, serve } from './streamproof_subject.mjs'

const apiKey = 'none'
const COUNTS = ['inputTokens', 'outputTokens', 'totalTokens', 'inputTokenDetails.cacheReadTokens']
COUNTS.push('inputTokenDetails.cacheWriteTokens', 'outputTokenDetails.reasoningTokens')
const MODELS = {
  'openai-chat': (task) => createOpenAI({ apiKey, baseURL: task.url('/v1') }).chat('a-model'),
  'openai-responses': (task) => createOpenAI({ apiKey, baseURL: task.url('/v1') }).responses('a-model'),
  gemini: (task) => createGoogleGenerativeAI({ apiKey, baseURL: task.url('/v1beta') })('a-model'),
  'bedrock-converse': (task) => createAmazonBedrock({ baseURL: task.url(), region: 'us-east-1' })('a-model'),
  'ollama-chat': (task) => createOllama({ baseURL: task.url() })('a-model'),
  'anthropic-messages': (task) => createAnthropic({ apiKey, baseURL: task.url('/v1') })('claude-sonnet-4-5'),
}

async function turn(task) {
  const failed = []
  const tools = Object.fromEntries(task.tools.map((t) => [t.name, tool({ inputSchema: jsonSchema(t.parameters) })]))
  const model = MODELS[task.dialect](task)
  const body = streamText({ model, prompt: task.prompt, tools, maxRetries: 0, onError: ({ error }) => failed.push(error) })
  const raw = { text: await body.text, reasoning: await body.reasoningText, finish: await body.finishReason, usage: await body.usage }
  if (failed.length) throw failed[0]
  const calls = (await body.toolCalls).filter((c) => !c.providerExecuted).map((c) => call(c.toolCallId, c.toolName, c.input))
  return reply({ ...raw, calls, usage: counts(raw.usage, ...COUNTS), raw: [raw, await body.response] })
}

await serve(Object.fromEntries(Object.keys(MODELS).map((name) => [name, turn])))
