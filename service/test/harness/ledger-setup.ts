import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { CallSession } from '../../src/voice/call-session.ts'

const finished = new Set<CallSession>()

const note = (message: unknown) => void finished.add((message as { session: CallSession }).session)

beforeAll(() => subscribe('parley.session.finished', note))
afterAll(() => void unsubscribe('parley.session.finished', note))

/** In every test: a call that is over keeps nothing, whatever came for it afterwards. */
afterEach(() => {
  const held = [...finished].flatMap((session) => session.held)
  finished.clear()
  if (held.length > 0) throw new Error(`sessions that are over still hold: ${held.join(', ')}`)
})
