// Speaks streamproof's process protocol for a JavaScript client. Nothing but Node is needed: copy it beside your program.
//
//     import { call, reply, serve } from './streamproof_subject.mjs'
//
//     serve({
//       'openai-chat': async (task) => {
//         const answer = await myClient({ baseUrl: task.url('/v1'), timeout: task.timeout }).ask(task.request)
//         return reply({ text: answer.text, finish: answer.finish, raw: answer })
//       },
//     })
//
// What a function throws is told as the failure of the turn, an `Unsupported` as what the client cannot be asked. What the
// client prints goes to standard error.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import readline from 'node:readline'

const outside = new Set() // addresses off this machine that the client tried since the turn began
const say = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)

export class Unsupported extends Error {}

/** One turn: `request` is the recorded request's body; `prompt` and `tools` are what it asks, in plain words. */
export class Task {
  constructor(asked) {
    this.dialect = asked.dialect
    this.request = asked.request
    this.stream = asked.stream
    this.timeout = asked.timeout_s * 1000 // milliseconds, as JavaScript counts
    this.base = asked.base_url.replace(/\/$/, '')
    this.model = asked.request.model ?? asked.model ?? 'a-model'
  }

  url(path = '') {
    return this.base + path
  }

  /** The recorded request without its streaming switch and without these fields. */
  asked(...but) {
    return Object.fromEntries(Object.entries(this.request).filter(([name]) => !['stream', ...but].includes(name)))
  }

  get prompt() {
    const said = this.request.input ?? this.request.messages ?? this.request.contents ?? 'Hello'
    return (typeof said === 'string' ? said : texts(said.slice(-1)).join(' ')).slice(0, 2000) || 'Hello'
  }

  /** The tools as { name, description, parameters }, whichever API they were told to. */
  get tools() {
    const listed = this.request.tools ?? this.request.toolConfig?.tools ?? []
    return listed.flatMap((entry) => entry.functionDeclarations ?? [entry.function ?? entry.toolSpec ?? entry]).flatMap(tool)
  }
}

function texts(node) {
  if (Array.isArray(node)) return node.flatMap(texts)
  if (node === null || typeof node !== 'object') return []
  const inner = [node.content, node.parts].flatMap((value) => (typeof value === 'string' ? [value] : texts(value ?? [])))
  return typeof node.text === 'string' ? [node.text, ...inner] : inner
}

function tool({ name, description = 'A tool.', parameters, parametersJsonSchema, input_schema, inputSchema }) {
  const schema = parameters ?? parametersJsonSchema ?? input_schema ?? inputSchema ?? {}
  return name ? [{ name, description, parameters: lowered(schema.json ?? { type: 'object', properties: {}, ...schema }) }] : []
}

/** A JSON schema whose types are in lower case, as JSON Schema has them and Gemini does not. */
export function lowered(schema) {
  if (Array.isArray(schema)) return schema.map(lowered)
  if (schema === null || typeof schema !== 'object') return schema
  const low = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, lowered(value)]))
  return typeof low.type === 'string' ? { ...low, type: low.type.toLowerCase() } : low
}

export function call(id, name, args) {
  return { id: id ?? null, name: name ?? null, arguments: args ?? null }
}

/** The counts of a usage by their paths: input, output, total, cached, cache written, reasoning. */
export function counts(usage, ...paths) {
  const names = ['input_tokens', 'output_tokens', 'total_tokens', 'cached_tokens', 'cache_write_tokens', 'reasoning_tokens']
  const told = names.filter((_, at) => paths[at]).map((name) => [name, whole(get(usage, paths[names.indexOf(name)]))])
  return usage ? Object.fromEntries(told) : null
}

function whole(count) {
  return Number.isInteger(count) ? count : null
}

export function reply({ text, reasoning, calls = [], finish, usage, raw } = {}) {
  const told = { text: text ?? null, reasoning: reasoning || null, tool_calls: calls, finish_reason: finish ?? null }
  return { response: { ...told, usage: usage ?? null }, raw }
}

/** What stands at `a.b.0.c`; undefined where a step leads nowhere. */
export function get(value, path) {
  return path.split('.').reduce((inner, step) => inner?.[step], value)
}

/** Any value as JSON can say it. */
export function plain(value, depth = 0) {
  if (typeof value === 'bigint') return Number(value)
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? undefined : value
  if (depth > 12) return String(value).slice(0, 500)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Map || value instanceof Set) return plain([...value], depth)
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item, depth + 1)]))
}

/** Answer questions until told to stop. `speaks` has a function for each dialect. */
export async function serve(speaks) {
  guard()
  process.on('uncaughtException', (error) => console.error(error)) // of what the client left behind
  process.on('unhandledRejection', (error) => console.error(error))
  const about = JSON.parse(process.env.STREAMPROOF_SUBJECT ?? '{}')
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line)
    if (asked.op === 'stop') break
    const answer = asked.op === 'describe' ? described(about, speaks) : await answered(asked, speaks)
    say(JSON.stringify(plain(answer)) + '\n')
  }
  process.exit(0) // clients leave sockets behind that would keep the program alive
}

function described(about, speaks) {
  const { name = 'subject', version = 'unknown', packages = {} } = about
  return { name, version, language: 'node', dialects: Object.keys(speaks), packages }
}

async function answered(asked, speaks) {
  outside.clear()
  const answer = { id: asked.id, response: null, error: null }
  try {
    if (!speaks[asked.dialect]) throw new Unsupported('another dialect')
    Object.assign(answer, await speaks[asked.dialect](new Task(asked)))
  } catch (error) {
    if (error instanceof Unsupported) answer.unsupported = error.message
    else answer.error = { type: error?.constructor?.name ?? typeof error, message: words(error) }
  }
  return { ...answer, outside: [...outside].sort() }
}

function words(error) {
  const said = String(error?.message ?? error).replace(/127\.0\.0\.1:\d+/g, '127.0.0.1').slice(0, 2000)
  const cause = error?.cause ? ` (from ${error.cause.constructor?.name}: ${String(error.cause.message).slice(0, 300)})` : ''
  return said + cause
}

/** Refuse, and remember, every connection that leaves this machine, and every name that would have to be asked for. */
function guard() {
  const connect = net.Socket.prototype.connect
  net.Socket.prototype.connect = function (...args) {
    const first = Array.isArray(args[0]) ? args[0][0] : args[0]
    const { path, host } = typeof first === 'object' ? first : { host: typeof args[1] === 'string' ? args[1] : undefined }
    if (path || isHere(host)) return connect.apply(this, args)
    process.nextTick(() => this.destroy(refused(host)))
    return this
  }
  const { lookup, promises } = dns
  const later = promises.lookup
  dns.lookup = (host, ...rest) => (isHere(host) ? lookup(host, ...rest) : process.nextTick(rest.at(-1), refused(host)))
  promises.lookup = async (host, ...rest) => {
    if (isHere(host)) return later(host, ...rest)
    throw refused(host)
  }
  syncBuiltinESMExports()
}

function isHere(host) {
  const plain = String(host || 'localhost').replace(/^::ffff:/i, '')
  return plain === 'localhost' || plain === '::1' || (net.isIPv4(plain) && plain.startsWith('127.'))
}

function refused(host) {
  outside.add(host)
  return new Error(`streamproof: ${host} is not on this machine`)
}
