import { partyQuiet, partyWindowOver } from './answering-party.ts'
import { streamLost, waitedInVain } from './detached.ts'
import { finish, hangUp } from './ending.ts'
import type { TimerName } from './events.ts'
import { wordsStayAway } from './going-on.ts'
import { tellKeys } from './keys.ts'
import { modelLost, tryAgain } from './model-session.ts'
import { renewalFired } from './renewal.ts'
import { letGo } from './retry.ts'
import { deadAir, silencePassed } from './silence.ts'
import { padIfMuted } from './speech.ts'
import { stalled } from './stalled.ts'
import type { Step } from './state.ts'
import { personTimer } from './taking-over.ts'
import { fillTheWait, playForTool } from './tool-wait.ts'
import { playOn, transferTimer } from './transferring.ts'
import { wordsOverdue } from './turns.ts'
import { askForMissedWords } from './unsaid.ts'
import { lastWordsOver, timeIsShort, timeIsUp } from './wrapping-up.ts'

/** What follows from a timer that has fired. */
export function fired(step: Step, timer: TimerName): void {
  ON_TIMER[timer](step)
}

const ON_TIMER: Record<TimerName, (step: Step) => void> = {
  model_setup: (step) => modelLost(step, 'retry'),
  reconnect: tryAgain,
  renewal: renewalFired,
  retry: letGo,
  stall: stalled,

  idle: silencePassed,
  dead_air: deadAir,
  filler: fillTheWait,
  hold: (step) => (step.state.transfer ? playOn(step) : playForTool(step)),
  dtmf: tellKeys,
  words: wordsOverdue,
  missed_words: askForMissedWords,
  resume: wordsStayAway,
  padding: padIfMuted,

  party: partyQuiet,
  party_end: partyWindowOver,
  person: personTimer,
  transfer: transferTimer,

  backlog: (step) => streamLost(step),
  detached: waitedInVain,

  time_warning: timeIsShort,
  time_up: timeIsUp,
  last_words: lastWordsOver,
  drain: hangUp,
  grace: finish,
}
