import type { LineSound } from '../answer/line-reading.ts'
import type { PartySaid } from '../answer/party-words.ts'
import { ask, exactly } from './asking.ts'
import { lawsWords } from './disclosing.ts'
import { beginEnding, hangUp } from './ending.ts'
import { silence } from './interrupting.ts'
import { isAboutPerson } from './lost-person.ts'
import { isLeavingMessage, settleParty } from './mailbox.ts'
import { targetIn } from './not-through.ts'
import type { AnsweredBy, Party, ReadFrom } from './party.ts'
import type { PastTurn, Resumption } from './resumption.ts'
import { isOthers, isOutOfHands, type Step } from './state.ts'
import { leaveInstead } from './wrapping-up.ts'

/** How long a line is listened to from its beginning, and one on which somebody speaks on without a pause. */
const WINDOW_MS = 15_000
const LONGEST_WINDOW_MS = 45_000
/** Who says no more than this and then is quiet is a person, as far as that tells. */
const HUMAN_MS = 2_500
const HUMAN_QUIET_MS = 600
/** A mailbox without a beep, or whose beep was not heard: its message begins after so long a silence. */
const QUIET_MS = 2_500
/** In any case after this. */
const BEEP_WITHIN_MS = 30_000
/** An assistant comes back with the person, or with nobody. */
const SCREENING_MS = 60_000
/** Who said a word, was quiet while the agent spoke for so long, and speaks again, has a conversation. A mailbox goes on sooner. */
const REPLY_MS = 3_000
/** The beep of a mailbox. A tone without a greeting right before it may be anything: of a kitchen, or of another telephone. */
const BEEP = { fromHz: 350, untilHz: 2_300, fromMs: 140, untilMs: 4_000, withinMs: 2_000 }
const GREETING_MS = 2_500
/** What a telephone lets be heard that records the call: no mailbox's. */
const RECORDING_BEEP = { fromHz: 1_260, untilHz: 1_540, untilMs: 280 }

const ASSISTANT =
  'A call screening assistant has answered, not a person. Say in one short sentence who you are, for whom you call and why, as you would tell the person. Then wait. When the person is there, greet them.'
const DISCLOSE = 'What you say to the person begins with exactly this sentence'
const MENU =
  'A recorded menu has answered, not a person. Do not greet it. If one of its choices leads to the person you want, choose it: with the tool send_dtmf if you have it, else by saying the choice. Say nothing else.'

const NOTHING_HEARD = {
  ...{ by: null, from: null, speechMs: 0, isSpeaking: false, quietSinceMs: null },
  ...{ hasBeeped: false, isAnswered: false },
}

/** Begins to find out who answered, in a call that was placed. */
export function readParty(step: Step): void {
  const { plan, resumption } = step.state
  if (!plan.readsParty) return
  if (resumption !== null) return readOn(step, resumption)
  step.set({ party: { phase: 'reading', ...NOTHING_HEARD, sinceMs: step.nowMs } })
  step.do({ type: 'arm', timer: 'party_end', ms: WINDOW_MS })
}

/**
 * The session that has found out what answered is gone: the beep of its mailbox is still to come, or was heard by nobody, and so is the
 * person behind an assistant. Who else answered is asked no more.
 */
function readOn(step: Step, { answered = null, turns }: Resumption): void {
  const isBeepDue = answered?.by === 'machine_start' && step.state.plan.voicemail !== null
  if (answered === null || !(isBeepDue || answered.by === 'screening') || hadOthers(turns)) return
  const since = { quietSinceMs: step.nowMs, sinceMs: step.nowMs }
  step.set({ party: { ...NOTHING_HEARD, ...answered, ...since, phase: isBeepDue ? 'beep' : 'screening' } })
  step.do({ type: 'arm', timer: 'party_end', ms: isBeepDue ? BEEP_WITHIN_MS : SCREENING_MS })
  if (isBeepDue) step.do({ type: 'arm', timer: 'party', ms: QUIET_MS })
}

/** Others had the call, or were to have it: what answered it was nothing for the agent to act on. */
function hadOthers(turns: readonly PastTurn[]): boolean {
  return turns.some((turn) => isAboutPerson(turn) || (turn.role === 'system' && targetIn(turn.text) !== null))
}

/** Something was heard on the line. */
export function partyHeard(step: Step, sound: LineSound): void {
  const { party } = step.state
  if (!party || party.phase === 'settled') return
  switch (sound.kind) {
    case 'speech_began':
      if (isReply(step, party)) return settleParty(step)
      change(step, { isSpeaking: true, hasBeeped: false, isAnswered: false })
      return step.do({ type: 'disarm', timer: 'party' })
    case 'speech_ended':
      change(step, { isSpeaking: false, speechMs: party.speechMs + sound.ms, quietSinceMs: step.nowMs })
      return step.do({ type: 'arm', timer: 'party', ms: party.phase === 'beep' ? QUIET_MS : HUMAN_QUIET_MS })
    case 'tone':
      return toneHeard(step, party, sound)
    case 'fax':
      note(step, 'fax', 'tone')
      return end(step)
  }
}

/** What is said from now on is said to the agent: nothing of it makes a machine of who says it. */
function isReply({ nowMs }: Step, { phase, by, from, quietSinceMs }: Party): boolean {
  const isPerson = phase === 'reading' && by === 'human' && from === 'cadence'
  return isPerson && quietSinceMs !== null && nowMs - quietSinceMs >= REPLY_MS
}

function toneHeard(step: Step, party: Party, { hz, ms }: { hz: number; ms: number }): void {
  const isBeep = hz >= BEEP.fromHz && hz <= BEEP.untilHz && ms >= BEEP.fromMs && ms <= BEEP.untilMs
  if (!isBeep) return
  change(step, { hasBeeped: true })
  if (party.phase === 'beep') return leaveMessage(step, 'machine_end_beep')
  const isGreeted = party.by === null && isBehindGreeting(party, step.nowMs - ms)
  if (party.phase === 'reading' && isGreeted && !isOfRecording(hz, ms)) mailbox(step, 'tone')
}

/**
 * Nobody has said anything that a person would not: a greeting as long as that, and a beep right behind it, is a mailbox's. Where it
 * began like a person its words tell.
 */
function isBehindGreeting({ speechMs, isSpeaking, quietSinceMs }: Party, beganAtMs: number): boolean {
  if (isSpeaking || quietSinceMs === null || speechMs < GREETING_MS) return false
  return beganAtMs - quietSinceMs <= BEEP.withinMs
}

function isOfRecording(hz: number, ms: number): boolean {
  return hz >= RECORDING_BEEP.fromHz && hz <= RECORDING_BEEP.untilHz && ms <= RECORDING_BEEP.untilMs
}

/** What was said by who answered, as far as it tells who that is. */
export function partySaid(step: Step, kind: PartySaid): void {
  const { party } = step.state
  if (!party || party.phase === 'settled' || party.phase === 'beep') return
  switch (kind) {
    case 'voicemail':
      return mailbox(step, 'words')
    case 'screening':
      return party.phase === 'screening' ? undefined : screened(step)
    case 'ivr':
      return party.by === 'ivr' ? undefined : menu(step)
    case 'waiting':
      return
    case 'other':
      return party.phase === 'screening' ? personCame(step) : undefined
  }
}

/** It has been quiet for as long as it was waited for. */
export function partyQuiet(step: Step): void {
  const { party } = step.state
  if (party?.phase === 'beep') return leaveMessage(step, 'machine_end_silence')
  if (party?.phase === 'reading' && party.by === null && party.speechMs <= HUMAN_MS) note(step, 'human', 'cadence')
}

/** The line was listened to for as long as it may be. */
export function partyWindowOver(step: Step): void {
  const { party } = step.state
  if (!party) return
  if (party.phase === 'beep') return leaveMessage(step, 'machine_end_other')
  const isLong = party.isSpeaking && party.phase === 'reading' && step.nowMs - party.sinceMs < LONGEST_WINDOW_MS
  if (isLong) step.do({ type: 'arm', timer: 'party_end', ms: WINDOW_MS })
  else settleParty(step)
}

/**
 * The carrier says that a machine answered; `by` in its own word. What was said tells better than what the carrier has made of its
 * sound: an assistant, a menu, or the person whom it has put through, is talked to. One who hears a mailbox out tells us when its message can be left.
 */
export function machineAnswered(step: Step, by: string | null): void {
  const { party, ending, resumption } = step.state
  // A person who has the call hears for themselves what answered it, and so did one who had it before its node was lost.
  if (ending || isOutOfHands(step) || hadOthers(resumption?.turns ?? [])) return
  const known = party ?? resumption?.answered
  if (known?.from === 'words' && (known.by === 'screening' || known.by === 'ivr' || known.by === 'human')) return
  if (by === 'fax') return end(step)
  // That it is one is known, and its greeting is not over: its message would not be heard.
  if (party?.phase === 'beep' && by === 'machine_start') return
  leaveMessage(step, party?.phase === 'beep' ? 'machine_end_other' : null)
}

/** A mailbox: the call ends, or its beep is waited for. */
function mailbox(step: Step, from: ReadFrom): void {
  const { plan, party, ending } = step.state
  note(step, from === 'tone' ? 'machine_end_beep' : 'machine_start', from)
  if (ending || isOutOfHands(step)) return settleParty(step)
  if (plan.voicemail === null) return end(step)
  hush(step)
  if (party?.hasBeeped || from === 'tone') return leaveMessage(step, 'machine_end_beep')
  change(step, { phase: 'beep' })
  const quietMs = party?.quietSinceMs != null && !party.isSpeaking ? step.nowMs - party.quietSinceMs : null
  if (quietMs !== null) step.do({ type: 'arm', timer: 'party', ms: Math.max(1, QUIET_MS - quietMs) })
  step.do({ type: 'arm', timer: 'party_end', ms: BEEP_WITHIN_MS })
}

/** The message begins, once in a call; without one the call ends. `by`: what has been found out with that. */
function leaveMessage(step: Step, by: AnsweredBy | null): void {
  const { plan, ending } = step.state
  const from = step.state.party?.from ?? null
  settleParty(step)
  if (by !== null && from !== null) note(step, by, from)
  // Whoever has taken the call meanwhile says what they like.
  if (ending || isOutOfHands(step)) return
  if (plan.voicemail === null) return end(step)
  if (isLeavingMessage(step.state)) return
  hush(step)
  step.set({ owedSinceMs: null })
  ask(step, { why: 'goodbye', ...exactly(plan.voicemail), thenEnd: 'voicemail' })
}

/** An assistant asks who calls, and why: it is told, and tells the person. */
function screened(step: Step): void {
  note(step, 'screening', 'words')
  change(step, { phase: 'screening' })
  step.do({ type: 'arm', timer: 'party_end', ms: SCREENING_MS })
  const sentence = lawsWords(step.state.plan)
  tell(step, sentence === null ? ASSISTANT : `${ASSISTANT} ${DISCLOSE}: ${sentence}`)
}

/** The person is there, who has heard nothing so far. */
function personCame(step: Step): void {
  note(step, 'human', 'words')
  change(step, { phase: 'reading' })
  step.do({ type: 'arm', timer: 'party_end', ms: WINDOW_MS })
}

function menu(step: Step): void {
  note(step, 'ivr', 'words')
  tell(step, MENU)
}

/**
 * What the agent was about to say was meant for a person: it is told who is there, and asked again. An answer to what it has heard
 * of them itself stands, and so does a tool that it has called: keys are not cut short by words that are told behind them.
 */
function tell(step: Step, instructions: string): void {
  const { answers, runningTools, ending, party } = step.state
  if (ending || isOutOfHands(step)) return
  step.command({ type: 'system_message', text: instructions })
  const [asked, active] = [answers.asked, answers.active]
  const isAnswer = asked ? asked.ask.why === 'turn' && !asked.isAbandoned : active?.asked?.ask.why === 'turn'
  if (isAnswer || party?.isAnswered || active?.hasTool || runningTools.length > 0) return
  silence(step)
  step.set({ owedSinceMs: null })
  const queue = step.state.answers.queue.filter(({ thenEnd }) => thenEnd !== null)
  step.setAnswers({ queue })
  ask(step, { why: 'say', instructions, thenEnd: null })
}

/** The agent is silent. What a machine says stops nobody, as long as it is taken for one. */
function hush(step: Step): void {
  if (isOthers(step.state)) return
  leaveInstead(step)
  silence(step)
  step.setAnswers({ queue: [] })
}

function end(step: Step): void {
  settleParty(step)
  if (step.state.ending || isOutOfHands(step)) return
  beginEnding(step, 'voicemail', true)
  hangUp(step)
}

/** What is known by now is told, and written down. */
function note(step: Step, by: AnsweredBy, from: ReadFrom): void {
  const { party } = step.state
  if (!party || (party.by === by && party.from === from)) return
  change(step, { by, from })
  step.do({ type: 'note', note: { type: 'answered', state: step.state.phase, by, from } }, { type: 'checkpoint' })
}

function change(step: Step, facts: Partial<Party>): void {
  const { party } = step.state
  if (party) step.set({ party: { ...party, ...facts } })
}
