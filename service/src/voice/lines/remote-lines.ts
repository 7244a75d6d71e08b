import type { Clock } from '../../kernel/clock.ts'
import { type NodeId, newId } from '../../kernel/ids.ts'
import type { Bus } from '../../platform/bus/port.ts'
import type { Line, LineEnd, LineListener, WantedLine } from './line.ts'
import {
  FRAMES_PER_MESSAGE,
  heardTopic,
  joined,
  type LineQuestion,
  type LineSaid,
  type LineTold,
  linesTopic,
  RENEW_INTERVAL_MS,
  saidTopic,
} from './remote-line.ts'

type Deps = { bus: Bus; clock: Clock; nodeId: NodeId }

/** Within this time the node that has a call answers, or is taken to be away. */
const ANSWER_WITHIN_MS = 2_000

/** Lines of people at this node into calls of others. */
export type RemoteLines = {
  /** @throws AppError as the other node, `unavailable` when it does not answer. */
  open(node: NodeId, wanted: WantedLine, listener: LineListener): Promise<Line>
  close(): void
}

export function makeRemoteLines({ bus, clock, nodeId }: Deps): RemoteLines {
  const lines = new Map<string, RemoteLine>()
  const stopHearing = bus.subscribe(heardTopic(nodeId), (message) => {
    const told = message as LineTold
    lines.get(told.lineId)?.told(told)
  })
  const stopRenewals = clock.every(RENEW_INTERVAL_MS, () => {
    for (const line of lines.values()) void line.renew()
  })

  return {
    async open(node, wanted, listener) {
      const lineId = newId<string>(clock.now())
      const ask = (question: LineQuestion) => bus.ask(linesTopic(node), question, ANSWER_WITHIN_MS)
      const line = new RemoteLine(lineId, listener, {
        renew: async () => (await ask({ type: 'renew', lineId })) === true,
        say: (said) => bus.publish(saidTopic(node), { lineId, said } satisfies LineSaid),
        end: (how) => {
          lines.delete(lineId)
          if (how !== null) ask({ type: 'close', lineId, how }).catch(() => {})
        },
      })
      lines.set(lineId, line)
      try {
        line.opened((await ask({ type: 'open', lineId, asker: nodeId, wanted })) as string)
        return line
      } catch (error) {
        // It may have been opened all the same.
        line.close('lost')
        throw error
      }
    },
    close() {
      stopHearing()
      stopRenewals()
      for (const line of lines.values()) line.told({ lineId: '', over: 'broken' })
    },
  }
}

type Node = { renew(): Promise<boolean>; say(said: string): void; end(how: 'released' | 'lost' | null): void }

class RemoteLine implements Line {
  callSid = ''
  readonly lineId: string
  readonly #listener: LineListener
  readonly #node: Node
  #waiting: string[] = []
  #isOpen = false
  #isOver = false

  constructor(lineId: string, listener: LineListener, node: Node) {
    this.lineId = lineId
    this.#listener = listener
    this.#node = node
  }

  opened(callSid: string): void {
    this.callSid = callSid
    this.#isOpen = true
  }

  told(told: LineTold): void {
    if (this.#isOver) return
    if ('batch' in told) this.#listener.audio(told.batch)
    else this.#over(told.over)
  }

  speak(payload: Buffer): void {
    if (this.#isOver) return
    this.#waiting.push(payload.toString('latin1'))
    if (this.#waiting.length >= FRAMES_PER_MESSAGE) this.#say()
  }

  #say(): void {
    if (this.#waiting.length > 0) this.#node.say(joined(this.#waiting))
    this.#waiting = []
  }

  async renew(): Promise<void> {
    // While it is being opened the other node may not know it yet.
    if (!this.#isOpen) return
    const isKnown = await this.#node.renew().catch(() => false)
    if (!isKnown && !this.#isOver) this.#over('broken')
  }

  close(how: 'released' | 'lost'): void {
    if (this.#isOver) return
    this.#say()
    this.#isOver = true
    this.#node.end(how)
  }

  #over(why: LineEnd): void {
    this.#isOver = true
    this.#node.end(why === 'broken' ? 'lost' : null)
    this.#listener.over(why)
  }
}
