import { silence } from '../audio/mulaw.ts'
import { tone } from '../audio/tone.ts'
import { Announcement } from './announcement.ts'
import type { DialPlan, DocumentSource } from './call-plan.ts'
import { elapsed } from './clock.ts'
import { addressIn } from './documents.ts'
import { NOBODY } from './far-end.ts'
import { Room } from './room.ts'
import { aborted } from './run-utterance.ts'
import type { DialConference, DialNumber, DialVerb } from './verbs.ts'
import type { PlacedCall, VerbHost } from './world.ts'

type Run = { documentUrl: string; signal: AbortSignal }

const RING_BACK = new Uint8Array(Buffer.concat([tone([440, 480], 2000, 2000), silence(4000)]))
// Longer than anything rings.
const RING_TIMES = 1000

/**
 * `<Dial>`: joins a conference, or rings all numbers at once and joins the call with the first that is ready. What came
 * of it goes to the verb's action, which says what comes next; without an action the next verb does.
 */
export async function runDial(host: VerbHost, verb: DialVerb, run: Run): Promise<DocumentSource | null> {
  const outcome = verb.conference
    ? await confer(host, verb.conference, { timeLimitMs: verb.timeLimitMs, signal: run.signal })
    : await ringAndJoin(host, verb, run)
  host.line.connect(NOBODY)
  if (run.signal.aborted || verb.action === '') return null
  return { kind: 'url', url: addressIn(run.documentUrl, verb.action), method: verb.method, form: outcome }
}

async function confer(
  host: VerbHost,
  conference: DialConference,
  { timeLimitMs, signal }: { timeLimitMs: number; signal: AbortSignal },
): Promise<[string, string][]> {
  const { seat, over, leave } = host.world.conferences.join(conference.room, conference)
  host.line.connect(seat)
  await elapsed(host.world.clock, timeLimitMs, AbortSignal.any([signal, over]))
  leave()
  return [['DialCallStatus', 'answered']]
}

async function ringAndJoin(host: VerbHost, verb: DialVerb, run: Run): Promise<[string, string][]> {
  const children = verb.numbers.map((number) => host.world.place(planOf(host, verb, { number, ...run })))
  if (!verb.answerOnBridge) host.line.connect(new Announcement(RING_BACK, { times: RING_TIMES }))
  const winner = await firstReady(children, run.signal)
  for (const child of children) if (child !== winner) child.hangUp('other-party')
  if (!winner) return [['DialCallStatus', statusOfLost(children)], ...sidOf(children[0])]
  await join(host, verb, { winner, signal: run.signal })
  return [
    ['DialCallStatus', 'completed'],
    ['DialCallDuration', String(winner.record.durationSeconds)],
    ...sidOf(winner),
  ]
}

function planOf(host: VerbHost, verb: DialVerb, { number, documentUrl }: Run & { number: DialNumber }): DialPlan {
  const { from, to, direction } = host.record.identity
  return {
    // The dialled party sees the caller's number, or that of the account when the account is the caller.
    from: verb.callerId || (direction === 'inbound' ? from : to),
    to: number.to,
    direction: 'outbound-dial',
    parentSid: host.record.sid,
    instructions:
      number.url === ''
        ? null
        : { kind: 'url', url: addressIn(documentUrl, number.url), method: number.method, form: [] },
    callback: { ...number.callback, url: number.callback.url && addressIn(documentUrl, number.callback.url) },
    ringTimeoutMs: verb.timeoutMs,
    timeLimitMs: verb.timeLimitMs,
    sendDigits: number.sendDigits,
  }
}

/** The first call to be ready; null when none will be, or when the dialling call went on. */
async function firstReady(children: PlacedCall[], signal: AbortSignal): Promise<PlacedCall | null> {
  const waits = children.map(async (child) => {
    if (await child.ready) return child
    throw new Error('not answered')
  })
  return Promise.race([Promise.any(waits).catch(() => null), aborted(signal).then(() => null)])
}

async function join(
  host: VerbHost,
  verb: DialVerb,
  { winner, signal }: { winner: PlacedCall; signal: AbortSignal },
): Promise<void> {
  const room = new Room()
  const over = new AbortController()
  const seat = room.join({
    onKey: (digit) => {
      if (verb.hangUpOnStar && digit === '*') over.abort()
    },
  })
  const otherSeat = room.join()
  host.line.connect(seat)
  winner.connect(otherSeat)
  let isElsewhere = false
  void winner.left.then((how) => {
    isElsewhere = how === 'redirected'
    over.abort()
  })
  await elapsed(host.world.clock, verb.timeLimitMs, AbortSignal.any([signal, over.signal]))
  seat.leave()
  otherSeat.leave()
  if (!isElsewhere) winner.hangUp('other-party')
}

function statusOfLost(children: PlacedCall[]): string {
  const statuses = children.map(({ record }) => record.status)
  const telling = statuses.find((status) => status === 'busy' || status === 'failed')
  // A party that answered and was not joined (it did not press a key) counts as not reached.
  return telling ?? 'no-answer'
}

function sidOf(child: PlacedCall | undefined): [string, string][] {
  return child ? [['DialCallSid', child.record.sid]] : []
}
