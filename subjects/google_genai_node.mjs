// @google/genai: the chunks of `generateContentStream`, which its users add up.
// /// script
// dependencies = ["@google/genai@3.3.0"]
// [tool.streamproof]
// packages = {"*" = "@google/genai"}
// dialects = ["gemini"]
// ///
import { GoogleGenAI } from '@google/genai'
import { call, counts, reply, serve, Unsupported } from './streamproof_subject.mjs'

const COUNTS = ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount', 'cachedContentTokenCount', null, 'thoughtsTokenCount']

async function gemini(task) {
  const httpOptions = { baseUrl: task.url(), timeout: task.timeout, retryOptions: { attempts: 1 } }
  const client = new GoogleGenAI({ apiKey: 'none', vertexai: false, httpOptions })
  const chunks = []
  const stream = await client.models.generateContentStream({ model: 'a-model', contents: task.prompt })
  for await (const chunk of stream) chunks.push(chunk)
  const blocked = chunks.map((chunk) => chunk.promptFeedback?.blockReason).find((reason) => reason)
  if (blocked) throw new Error(`blocked: ${blocked}`)
  const told = chunks.flatMap((chunk) => chunk.candidates ?? []).filter((candidate) => !candidate.index)
  const parts = told.flatMap((candidate) => candidate.content?.parts ?? [])
  const uses = parts.flatMap((part) => part.functionCall ?? [])
  if (uses.some((use) => use.partialArgs || use.willContinue)) throw new Unsupported('arguments come in pieces, left to users')
  const [texts, thoughts] = [false, true].map((which) => parts.filter((part) => part.text && Boolean(part.thought) === which))
  return reply({
    text: texts.map((part) => part.text).join(''),
    reasoning: thoughts.map((part) => part.text).join(''),
    calls: uses.map((use) => call(use.id, use.name, use.args ?? {})),
    finish: told.map((candidate) => candidate.finishReason).findLast((reason) => reason),
    usage: counts(chunks.map((chunk) => chunk.usageMetadata).findLast((usage) => usage), ...COUNTS),
    raw: chunks,
  })
}

await serve({ gemini })
