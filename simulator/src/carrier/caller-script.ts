import type { Voice } from '../speech/speech.ts'

/**
 * When a caller does something. Each step waits for the one before it to be done; times are in milliseconds.
 * - `after-agent`: the agent has spoken since the step before, and has been quiet for `quietMs`.
 * - `over-agent`: the agent is `intoMs` into an utterance that began after the step before: the caller barges in.
 * - `at`: so long after the call was answered.
 * - `then`: so long after the step before was done (after the answer, for the first).
 */
export type When =
  | { kind: 'after-agent'; quietMs: number }
  | { kind: 'over-agent'; intoMs: number }
  | { kind: 'at'; atMs: number }
  | { kind: 'then'; delayMs: number }

/** What a caller does: speaks, makes a sound (µ-law), presses keys (`w` waits half a second), hangs up, only waits. */
export type Action =
  | { kind: 'say'; text: string; voice?: Voice }
  | { kind: 'sound'; audio: Uint8Array }
  | { kind: 'press'; keys: string }
  | { kind: 'hang-up' }
  | { kind: 'nothing' }

/** One step of a caller. */
export type CallerStep = { when: When; does: Action }

/** Somebody with a telephone: how it is answered when it rings, and what is done then. */
export type CallerScript = {
  /** What a call to this party meets. Calls that this party makes are not asked. */
  whenRung?: 'answers' | 'busy' | 'no-answer' | 'failed'
  /** How long it rings before `whenRung` happens; 1,000 when absent. */
  ringMs?: number
  /** What the carrier's detection takes this party for; a machine may beep at the end of its greeting. */
  isMachine?: boolean
  steps: CallerStep[]
  /** The party's voice, where a step names none; `slt` when absent. */
  voice?: Voice
  /** How long a step waits for the agent before the caller gives up and hangs up; 20,000 when absent. */
  patienceMs?: number
  /** Whether the party hangs up once all steps are done; else it stays, silent. */
  hangsUpAtEnd?: boolean
}

/** Something to say once the agent has been quiet for a while (700 ms unless told). */
export function reply(text: string, quietMs = 700): CallerStep {
  return { when: { kind: 'after-agent', quietMs }, does: { kind: 'say', text } }
}

/** Something to say over the agent, so long into its utterance. */
export function bargeIn(text: string, intoMs: number): CallerStep {
  return { when: { kind: 'over-agent', intoMs }, does: { kind: 'say', text } }
}

/** Something to say at once. */
export function saying(text: string): CallerStep {
  return { when: { kind: 'then', delayMs: 0 }, does: { kind: 'say', text } }
}

/** An answering machine: its greeting at once, a beep if it has one, then silence until the other side hangs up or 60 s are over. */
export function answeringMachine(greeting: string, beep: Uint8Array | null): CallerScript {
  const beeps: CallerStep[] = beep
    ? [{ when: { kind: 'then', delayMs: 400 }, does: { kind: 'sound', audio: beep } }]
    : []
  return {
    isMachine: true,
    hangsUpAtEnd: true,
    steps: [
      { when: { kind: 'then', delayMs: 300 }, does: { kind: 'say', text: greeting } },
      ...beeps,
      { when: { kind: 'then', delayMs: 60_000 }, does: { kind: 'nothing' } },
    ],
  }
}

/** A person who answers, says a word, and listens from then on. */
export function listener(greeting: string): CallerScript {
  return { steps: [{ when: { kind: 'then', delayMs: 300 }, does: { kind: 'say', text: greeting } }] }
}
