import type { Cancel } from '../../kernel/clock.ts'

/**
 * Small JSON messages between the nodes of an installation, by topic. Nothing is kept: who is away misses it, so what must not
 * be lost stands in the database, and a message only makes others look sooner.
 */
export type Bus = {
  /** Whether there may be other nodes on it. Alone, what is asked of another node is refused. */
  readonly reachesOthers: boolean
  /** Tells all who subscribed to the topic, on this node too. While the others cannot be reached it is dropped, and counted. */
  publish(topic: string, message: unknown): void
  /** Is told what is published from soon on, until cancelled. Whatever comes was written by a node, maybe of another version. */
  subscribe(topic: string, listener: (message: unknown) => void): Cancel
  /** Answers what is asked on a topic; one node answers each topic. An AppError that it throws reaches who asked. */
  answer(topic: string, answerer: Answerer): Cancel
  /**
   * Asks who answers the topic; what this node answers itself, also while the others cannot be reached.
   *
   * @throws AppError `unavailable`, at once when nobody answers the topic or the others cannot be reached, after `timeoutMs`
   * when no answer came; the AppError of who answered.
   */
  ask(topic: string, question: unknown, timeoutMs: number): Promise<unknown>
  /** Gives up what is still asked. Repeating it does nothing. */
  close(): void
}

export type Answerer = (question: unknown) => unknown

/** What carries the texts of a bus. */
export type Wire = {
  readonly reachesOthers: boolean
  /** Resolves with how many got it. @throws AppError `unavailable`, at once, while it is away. */
  send(channel: string, text: string): Promise<number>
  listen(channel: string, listener: (text: string) => void): Cancel
}
