import type { Cancel, Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { NodeId } from '../../kernel/ids.ts'
import type { Bus } from '../../platform/bus/port.ts'
import type { AudioBatch, Line, LineListener, OpenLine, WantedLine } from './line.ts'
import type { NoteTakeover } from './line-socket.ts'
import {
  FRAMES_PER_MESSAGE,
  heardTopic,
  joined,
  LEASE_MS,
  type LineQuestion,
  type LineSaid,
  type LineTold,
  linesTopic,
  RENEW_INTERVAL_MS,
  saidTopic,
} from './remote-line.ts'

type Deps = {
  bus: Bus
  clock: Clock
  nodeId: NodeId
  here: OpenLine
  /** Told that a person has a call no more whose node is gone, and can write down nothing. */
  note: NoteTakeover
}
type Answered = { line: Line; wanted: WantedLine; untilMs: number }

/** Each is told all that is said in its call. */
const MAX_LINES = 200

/** Opens lines into the calls of this node for people at others, until the function that this returns is called. */
export function answerRemoteLines({ bus, clock, nodeId, here, note }: Deps): Cancel {
  const lines = new Map<string, Answered>()

  async function open({ lineId, asker, wanted }: Extract<LineQuestion, { type: 'open' }>): Promise<string> {
    if (lines.size >= MAX_LINES) throw new AppError('unavailable', 'Too many people of other nodes are on calls here.')
    const tell = (told: LineTold) => bus.publish(heardTopic(asker), told)
    const line = await here(wanted, relayTo(wanted, lineId, { tell, over: () => lines.delete(lineId) }))
    lines.set(lineId, { line, wanted, untilMs: clock.monotonicMs() + LEASE_MS })
    return line.callSid
  }

  function renew(lineId: string): boolean {
    const known = lines.get(lineId)
    if (known) known.untilMs = clock.monotonicMs() + LEASE_MS
    return known !== undefined
  }

  function close(lineId: string, how: 'released' | 'lost'): boolean {
    const known = lines.get(lineId)
    lines.delete(lineId)
    known?.line.close(how)
    return known !== undefined
  }

  /** A node that was only away for so long notes it too, once it is back, under the same name. */
  function lost(lineId: string, { line, wanted }: Answered): void {
    close(lineId, 'lost')
    const { tenantId: tenant, streamSid: stream_sid, kind, supervisor = null } = wanted
    if (kind === 'listen') return
    const grant = { kind, tenant, stream_sid, supervisor }
    void note({ action: 'release', grant, callSid: line.callSid, reason: 'the connection was lost', id: lineId })
  }

  const stopSweep = clock.every(RENEW_INTERVAL_MS, () => {
    const nowMs = clock.monotonicMs()
    for (const [lineId, answered] of lines) if (answered.untilMs <= nowMs) lost(lineId, answered)
  })
  const stopHearing = bus.subscribe(saidTopic(nodeId), (message) => {
    const { lineId, said } = message as LineSaid
    lines.get(lineId)?.line.speak(Buffer.from(said, 'latin1'))
  })
  const stopAnswers = bus.answer(linesTopic(nodeId), (asked) => {
    const question = asked as LineQuestion
    if (question.type === 'open') return open(question)
    return question.type === 'renew' ? renew(question.lineId) : close(question.lineId, question.how)
  })
  return () => {
    stopAnswers()
    stopHearing()
    stopSweep()
    for (const lineId of lines.keys()) close(lineId, 'lost')
  }
}

type Relay = { tell(told: LineTold): void; over(): void }

/** A person's frames come one by one, and go as a few at once. */
function relayTo({ kind }: WantedLine, lineId: string, { tell, over }: Relay): LineListener {
  let waiting: AudioBatch[] = []
  return {
    audio(batch) {
      if (kind === 'listen') return tell({ lineId, batch })
      waiting.push(batch)
      const [first] = waiting
      if (!first || waiting.length < FRAMES_PER_MESSAGE) return
      tell({ lineId, batch: { atMs: first.atMs, inbound: joined(waiting.map((each) => each.inbound)), outbound: '' } })
      waiting = []
    },
    over(why) {
      over()
      tell({ lineId, over: why })
    },
  }
}
