// @aws-sdk/client-bedrock-runtime over HTTP/1.1: the events of `ConverseStreamCommand`, which its users add up.
// /// script
// dependencies = ["@aws-sdk/client-bedrock-runtime@3.1164.0", "@smithy/node-http-handler@4.14.2"]
// [tool.streamproof]
// packages = {"*" = "@aws-sdk/client-bedrock-runtime"}
// dialects = ["bedrock-converse"]
// ///
import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { call, counts, reply, serve } from './streamproof_subject.mjs'

const COUNTS = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens']

async function converse(task) {
  const requestHandler = new NodeHttpHandler({ requestTimeout: task.timeout, socketTimeout: task.timeout })
  const client = new BedrockRuntimeClient({ endpoint: task.url(), maxAttempts: 1, requestHandler })
  const messages = [{ role: 'user', content: [{ text: task.prompt }] }]
  const answer = await client.send(new ConverseStreamCommand({ modelId: 'a-model', messages }))
  const [events, calls, told] = [[], new Map(), { text: '', reasoning: '' }]
  for await (const event of answer.stream) {
    events.push(event)
    const [{ contentBlockIndex: at, start, delta, stopReason, usage }] = Object.values(event)
    const use = start?.toolUse
    if (use && use.type !== 'server_tool_use') calls.set(at, call(use.toolUseId, use.name, ''))
    told.text += delta?.text ?? ''
    told.reasoning += delta?.reasoningContent?.text ?? ''
    if (delta?.toolUse && calls.has(at)) calls.get(at).arguments += delta.toolUse.input
    told.finish = stopReason ?? told.finish
    told.usage = usage ? counts(usage, ...COUNTS) : told.usage
  }
  return reply({ ...told, calls: [...calls.values()], raw: events })
}

await serve({ 'bedrock-converse': converse })
