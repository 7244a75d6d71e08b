import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** A runtime that is not Node: it has no modules of Node's, none of its globals, and timers that are numbers. */
const ELSEWHERE = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('node:')) throw new Error('there is no ' + specifier)
    return next(specifier, { ...context, conditions: ['import'] })
  },
})
const { log } = console
const { setTimeout: after, clearTimeout: forget, process } = globalThis
const timers = new Map()
Object.assign(globalThis, {
  setTimeout: (...args) => timers.set(timers.size + 1, after(...args)).size,
  clearTimeout: (timer) => forget(timers.get(timer)),
})
const index = process.argv[1]
delete globalThis.process
const { createParley, verifyWebhook } = await import(index)
const events = 'id: 1\\nevent: ended\\ndata: {"end_reason": "caller_hangup", "duration_ms": 5}\\n\\n'
const headers = { 'content-type': 'text/event-stream' }
const connections = []
const fetch = async ({ url }) => {
  if (url.endsWith('/events') && connections.push(url) > 1) process.exit(1)
  return new Response(events, { headers })
}
const read = []
for await (const { event } of createParley({ baseUrl: 'https://voice.example.com', apiKey: 'pk', fetch }).watchSession('MZ1'))
  read.push(event)
// Node's own fetch needs it until here.
delete globalThis.Buffer
let refusal = null
try {
  verifyWebhook({ 'webhook-id': 'e1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,' }, '{}', 'a-secret')
} catch (error) {
  refusal = error.message
}
log(JSON.stringify({ read, refusal }))
`

describe('the client', () => {
  it('is loaded and watches calls where there is no Node, and says so when it is to verify a webhook', () => {
    const index = join(import.meta.dirname, 'index.ts')
    const args = ['--input-type=module', '--eval', ELSEWHERE, index]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      read: ['ended'],
      refusal: 'Webhooks can only be verified where there is node:crypto, and there is none here.',
    })
  })
})
