import type { CallEvent } from '../../simulator/src/carrier/timeline.ts'
import type { WrittenCaller } from '../../simulator/src/scenario/scenario-shape.ts'
import type { RunningRehearsal } from './running-rehearsal.ts'

/** A call of the simulated carrier, as its control surface shows it. */
export type TelephoneCall = { sid: string; status: string; events: CallEvent[] }

/** A telephone at the simulated carrier. */
export type Telephone = {
  /** Rings a number of the service. */
  ring(call: { from: string; to: string; caller: WrittenCaller }): Promise<TelephoneCall>
  look(sid: string): Promise<TelephoneCall>
  /** The caller says this now. Nothing happens when the call is over. */
  say(sid: string, text: string): Promise<void>
  hangUp(sid: string): Promise<void>
}

const TIMEOUT_MS = 10_000

/** @throws Error, as each of its functions does, with the carrier's sentence when it refuses, or when it is gone. */
export function makeTelephone({ public_url: base, carrier }: RunningRehearsal): Telephone {
  const { base_url, account_sid, auth_token } = carrier
  const authorization = `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`

  async function ask(path: string, body?: object): Promise<{ status: number; answer: unknown }> {
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(`${base_url}/control${path}`, { headers: { authorization }, signal, ...init })
    const answer: unknown = await response.json()
    if (response.ok || response.status === 409) return { status: response.status, answer }
    throw new Error(`the simulated carrier answered with ${response.status}: ${JSON.stringify(answer)}`)
  }

  return {
    async ring(call) {
      const addresses = {
        voice_url: `${base}/api/v1/incoming-call`,
        voice_fallback_url: `${base}/api/v1/call-resume`,
        status_callback: `${base}/api/v1/call-status`,
      }
      return (await ask('/ring', { ...call, ...addresses })).answer as TelephoneCall
    },
    look: async (sid) => (await ask(`/calls/${sid}`)).answer as TelephoneCall,
    say: async (sid, text) => void (await ask(`/calls/${sid}/say`, { say: text })),
    hangUp: async (sid) => void (await ask(`/calls/${sid}/hang-up`, {})),
  }
}
