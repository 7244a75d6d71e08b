import { onTestFinished, vi } from 'vitest'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech } from '../speech/speech.ts'
import { type SeenStream, startTestBridge, type TestBridge } from './bridge.fixture.ts'
import type { CallerScript } from './caller-script.ts'
import { type Carrier, type CarrierOptions, startCarrier } from './carrier.ts'
import type { Clock } from './clock.ts'
import type { SimulatedCall } from './simulated-call.ts'
import { makeSteadyClock } from './steady-clock.fixture.ts'

/** The account that the tests use. */
export const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: 'a secret of sixteen' }

/** A party that stays on the line and says nothing. */
export const SILENT: CallerScript = { steps: [] }

/** A bridge and a carrier that find each other, closed when the test ends; the test fails if they leave anything. */
export type Pair = {
  bridge: TestBridge
  carrier: Carrier
  clock: Clock
  ring: (caller?: CallerScript) => SimulatedCall
  /** Rings, and gives the stream once its `start` has come. */
  ringStream: (caller?: CallerScript) => Promise<{ call: SimulatedCall; stream: SeenStream }>
  /** Sends a request to the REST surface. */
  rest: (path: string, form?: Record<string, string> | [string, string][]) => Promise<{ status: number; body: Json }>
}

/** An answer of the REST surface. */
export type Json = Record<string, unknown> & { sid?: string; calls?: { sid: string }[] }

/** Starts both. `speed` makes time pass faster; while the process is held up none does. */
export async function startPair({
  speed = 5,
  refuseStreams = false,
  ...options
}: { speed?: number; refuseStreams?: boolean } & Partial<Omit<CarrierOptions, 'clock'>> = {}): Promise<Pair> {
  const bridge = await startTestBridge({ refuseStreams })
  const clock = makeSteadyClock(speed)
  const speech = makeSpeech({ phraseBook: makePhraseBook() })
  const carrier = await startCarrier({ host: '127.0.0.1', port: 0, ...ACCOUNT, speech, clock, ...options })
  onTestFinished(async () => {
    await carrier.close()
    await bridge.close()
    await speech.close()
    if (clock.pending() > 0) throw new Error(`${clock.pending()} timers were left`)
  })
  const ring = (caller: CallerScript = SILENT) =>
    carrier.ring({
      from: '+14155550100',
      to: '+14155550199',
      voiceUrl: `${bridge.url}/voice`,
      statusCallback: `${bridge.url}/status`,
      caller,
    })
  return {
    bridge,
    carrier,
    clock,
    ring,
    ringStream: async (caller) => {
      const call = ring(caller)
      // By the clock of the call, of which a busy machine has ten real seconds as for everything else.
      await call.until(({ kind }) => kind === 'stream-started', 10_000 * speed)
      const stream = bridge.streams.at(-1)
      if (!stream) throw new Error(`no stream was opened: ${JSON.stringify(call.notifications)}`)
      await eventually(() => stream.of('start').length > 0)
      return { call, stream }
    },
    rest: (path, form) => sendRest(carrier, path, form),
  }
}

/** Waits for a condition, for at most half a minute. @throws Error when it does not come true */
export function eventually(holds: () => boolean): Promise<void> {
  const look = () => {
    if (!holds()) throw new Error(`it did not come true: ${holds.toString()}`)
  }
  return vi.waitFor(look, { timeout: 30_000, interval: 2 })
}

async function sendRest(carrier: Carrier, path: string, form?: Record<string, string> | [string, string][]) {
  const authorization = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`
  const response = await fetch(`${carrier.baseUrl}/2010-04-01/Accounts/${ACCOUNT.accountSid}${path}`, {
    headers: { authorization },
    ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
  })
  return { status: response.status, body: (await response.json()) as Json }
}
