// @langchain: its chat models, one package for each API.
// /// script
// dependencies = ["@langchain/core@1.4.0", "@langchain/openai@1.6.0", "@langchain/google-genai@2.3.2", "@langchain/aws@1.4.5", "@aws-sdk/client-bedrock-runtime@3.1164.0", "@langchain/ollama@1.3.0", "@langchain/anthropic@1.5.11"]
// [tool.streamproof]
// packages = {"*" = "@langchain/core", openai-chat = "@langchain/openai", openai-responses = "@langchain/openai", gemini = "@langchain/google-genai", bedrock-converse = "@langchain/aws", ollama-chat = "@langchain/ollama", anthropic-messages = "@langchain/anthropic"}
// dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
// omits = {openai-chat = ["reasoning"], ollama-chat = ["id"]}
// ///
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatBedrockConverse } from '@langchain/aws'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOllama } from '@langchain/ollama'
import { ChatOpenAI } from '@langchain/openai'
import { run } from './langchain_turn.mjs'
import { serve } from './streamproof_subject.mjs'

const once = { model: 'a-model', apiKey: 'none', maxRetries: 0, streamUsage: true }
const openai = (task) => ({ ...once, configuration: { baseURL: task.url('/v1') } })
const MODELS = {
  'openai-chat': (task) => new ChatOpenAI(openai(task)),
  'openai-responses': (task) => new ChatOpenAI({ ...openai(task), useResponsesApi: true }),
  gemini: (task) => new ChatGoogleGenerativeAI({ ...once, baseUrl: task.url() }),
  'bedrock-converse': (task) => new ChatBedrockConverse({ ...once, client: new BedrockRuntimeClient({ endpoint: task.url(), maxAttempts: 1 }) }),
  'ollama-chat': (task) => new ChatOllama({ ...once, baseUrl: task.url() }),
  'anthropic-messages': (task) => new ChatAnthropic({ ...once, model: 'claude-sonnet-4-5', anthropicApiUrl: task.url() }),
}

const turn = (task) => run(MODELS[task.dialect](task), task)
await serve(Object.fromEntries(Object.keys(MODELS).map((name) => [name, turn])))
