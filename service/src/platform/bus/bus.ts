import { type Cancel, type Clock, withTimeout } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import { errorOf, type WireFault, wireFault } from './faults.ts'
import type { Answerer, Bus, Wire } from './port.ts'

type Deps = { wire: Wire; clock: Clock; log: Pick<Log, 'error'>; onDropped: () => void }
type Asked = { resolve(answer: unknown): void; reject(error: Error): void }

type Question = { id: string; inbox: string; question: unknown }
type Reply = { id: string; answer?: unknown; fault?: WireFault }

/** Makes a bus of a wire. */
export function makeBus(deps: Deps): Bus {
  return new WireBus(deps)
}

class WireBus implements Bus {
  readonly reachesOthers: boolean
  readonly #deps: Deps
  /** Where answers come to. */
  readonly #inbox: string
  readonly #asked = new Map<string, Asked>()
  /** By topic, what this node answers. */
  readonly #answerers = new Map<string, Answerer>()
  readonly #stopInbox: Cancel

  constructor(deps: Deps) {
    this.#deps = deps
    this.reachesOthers = deps.wire.reachesOthers
    this.#inbox = `inbox/${newId(deps.clock.now())}`
    this.#stopInbox = deps.wire.listen(this.#inbox, (text) => this.#settle(read<Reply>(text)))
  }

  publish(topic: string, message: unknown): void {
    this.#send(`topic/${topic}`, { message })
  }

  subscribe(topic: string, listener: (message: unknown) => void): Cancel {
    return this.#deps.wire.listen(`topic/${topic}`, (text) => {
      const told = read<{ message: unknown }>(text)
      if (told) listener(told.message)
    })
  }

  answer(topic: string, answerer: Answerer): Cancel {
    this.#answerers.set(topic, answerer)
    const stop = this.#deps.wire.listen(`ask/${topic}`, (text) => {
      const asked = read<Question>(text)
      if (asked) void this.#reply(asked, answerer)
    })
    return () => {
      if (this.#answerers.get(topic) === answerer) this.#answerers.delete(topic)
      stop()
    }
  }

  async ask(topic: string, question: unknown, timeoutMs: number): Promise<unknown> {
    const { clock, wire } = this.#deps
    const id = newId<string>(clock.now())
    const answer = new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }))
    const own = this.#answerers.get(topic)
    const asking = async () => {
      // What this node answers itself needs no wire, which may be away.
      if (own) {
        this.#settle({ id, ...(await this.#answerOf(own, question)) })
        return answer
      }
      const text = JSON.stringify({ id, inbox: this.#inbox, question } satisfies Question)
      if ((await wire.send(`ask/${topic}`, text)) === 0) throw noAnswer()
      return answer
    }
    // Closing the bus may refuse it while it is still being sent.
    answer.catch(() => {})
    try {
      return await withTimeout(clock, asking(), timeoutMs, noAnswer)
    } finally {
      this.#asked.delete(id)
    }
  }

  close(): void {
    this.#stopInbox()
    for (const { reject } of this.#asked.values()) reject(noAnswer())
    this.#asked.clear()
  }

  async #reply({ id, inbox, question }: Question, answerer: Answerer): Promise<void> {
    this.#send(inbox, { id, ...(await this.#answerOf(answerer, question)) } satisfies Reply)
  }

  async #answerOf(answerer: Answerer, question: unknown): Promise<Omit<Reply, 'id'>> {
    try {
      return { answer: await answerer(question) }
    } catch (error) {
      if (!(error instanceof AppError)) this.#deps.log.error({ err: error }, 'a question of a node failed')
      return { fault: wireFault(error) }
    }
  }

  #settle(reply: Reply | null): void {
    const asked = reply && this.#asked.get(reply.id)
    if (!asked) return
    if (reply.fault) asked.reject(errorOf(reply.fault))
    else asked.resolve(reply.answer)
  }

  #send(channel: string, content: object): void {
    this.#deps.wire.send(channel, JSON.stringify(content)).catch(this.#deps.onDropped)
  }
}

/** Null for what no node of ours has written. */
function read<T>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as T) : null
  } catch {
    return null
  }
}

function noAnswer(): AppError {
  return new AppError('unavailable', 'The node that was asked does not answer. Try again.')
}
