import { createHmac } from 'node:crypto'
import { secretsEqual } from '../../src/kernel/seal.ts'
import type { CallVerb, StreamMessage, TelephonyDriver } from '../../src/platform/telephony/port.ts'

/** A carrier that shares nothing with the first one: other frames, another signature, documents in JSON. */
export function parrotDriver({ apiBaseUrl }: { apiBaseUrl: string }): TelephonyDriver {
  return {
    name: 'parrot',
    codec: {
      read,
      mediaPayload: () => null,
      mediaFrame: (stream) => ({ head: Buffer.from(`{"to":"${stream}","squawk":"`), tail: Buffer.from('"}') }),
      mark: (stream, name) => Buffer.from(JSON.stringify({ to: stream, until: name })),
      clear: (stream) => Buffer.from(JSON.stringify({ to: stream, hush: true })),
    },
    document: (verbs) => ({ body: JSON.stringify(verbs.map(squawk)), contentType: 'application/json; charset=utf-8' }),
    hasSignature: (headers) => headers['x-parrot'] !== undefined,
    mayBeSigned: (headers) => headers['x-parrot'] !== undefined,
    verify({ url, headers }, tokens) {
      const given = headers['x-parrot']
      return typeof given === 'string' && tokens.some((token) => secretsEqual(sign(url, token), given))
    },
    createCall: () => Promise.reject(new Error('parrots do not dial')),
    listCalls: () => Promise.resolve({ calls: [], hasUnread: false }),
    async endCall(account, callSid, signal) {
      await fetch(`${apiBaseUrl}/quiet/${account.accountSid}/${callSid}`, { method: 'POST', signal })
    },
    updateCall: () => Promise.resolve(),
    cancelCall: () => Promise.resolve(null),
    fetchCall: () => Promise.resolve(null),
    connectNumber: () => Promise.resolve('not_owned'),
  }
}

function sign(url: string, token: string): string {
  return createHmac('sha256', token).update(url).digest('hex')
}

function squawk(verb: CallVerb): object {
  if (verb.type !== 'connect_stream') return verb
  return { perch: `${verb.url}/${verb.parameters['stream_token']}` }
}

function read(frame: Buffer): StreamMessage {
  const message = JSON.parse(frame.toString()) as Record<string, string>
  const { perch, call, squawk: payload, heard } = message
  if (perch && call) return { type: 'start', streamSid: perch, callSid: call, accountSid: '', parameters: {} }
  if (payload) return { type: 'media', payload: Buffer.from(payload) }
  if (heard) return { type: 'mark', name: heard }
  return message['gone'] ? { type: 'stop' } : { type: 'unknown' }
}
