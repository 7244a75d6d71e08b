/** One mechanism taken out: `find`, which stands once in the file, becomes `put`; one of the tests has to notice. */
export type Mutant = { name: string; file: string; find: string; put: string; tests: readonly string[] }

const VOICE = 'service/src/voice'
const SESSION = `${VOICE}/session`

/** The name says what is not there any more. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'the gate behind a silenced answer',
    file: `${VOICE}/media-path.ts`,
    find: 'this.#discarded.has(responseId)',
    put: 'false',
    tests: [`${VOICE}/media-path.test.ts`],
  },
  {
    name: 'the cut of what was not heard',
    file: `${SESSION}/interrupting.ts`,
    find: "step.command({ type: 'truncate', itemId, audioEndMs: heardMs })",
    put: 'void heardMs',
    tests: [`${SESSION}/interrupting.test.ts`],
  },
  {
    name: 'one answer at a time',
    file: `${SESSION}/asking.ts`,
    find: '|| answers.asked || answers.active ||',
    put: '||',
    tests: [`${SESSION}/asking.test.ts`],
  },
  {
    name: 'how long a sound has to be to stop the agent',
    file: `${SESSION}/speech.ts`,
    find: 'return loudMs > 0 && loudMs >= state.plan.interruption.minSpeechMs',
    put: 'return state.plan !== null && loudMs >= 0',
    tests: [`${SESSION}/interrupting.test.ts`],
  },
  {
    name: "the greeting's guard",
    file: `${SESSION}/speech.ts`,
    find: 'if (heardUntilMs < guardUntilMs(step)) return decideInGuard(step, speech)',
    put: '',
    tests: [`${SESSION}/interrupting.test.ts`],
  },
  {
    name: 'words that only say "go on"',
    file: `${SESSION}/speech.ts`,
    find: 'if (mayBeBackchannel(step, speech)) return',
    put: '',
    tests: [`${SESSION}/backchannel.test.ts`],
  },
  {
    name: 'going on after what was no words',
    file: `${SESSION}/going-on.ts`,
    find: 'if (itemIds.every((id) => stopped.earlierIds.includes(id))) goOn(step)',
    put: '',
    tests: [`${SESSION}/going-on.test.ts`],
  },
  {
    name: 'giving in to words that come late',
    file: `${SESSION}/going-on.ts`,
    find: 'stopped.itemIds.filter((id) => id !== itemId) } })\n  giveIn(step)',
    put: 'stopped.itemIds.filter((id) => id !== itemId) } })',
    tests: [`${SESSION}/going-on.test.ts`],
  },
  {
    name: 'what was heard before the agent went on',
    file: `${SESSION}/keeping.ts`,
    find: 'before.heardMs + heardSinceMs',
    put: 'heardSinceMs',
    tests: [`${SESSION}/going-on.test.ts`],
  },
  {
    name: 'the filler in dead air',
    file: `${SESSION}/silence.ts`,
    find: "else if (step.state.phase === 'waiting' || !playFiller(step)) playChords(step)",
    put: '',
    tests: [`${SESSION}/dead-air.test.ts`],
  },
  {
    name: 'what bridges a tool',
    file: `${SESSION}/silence.ts`,
    find: 'if (step.state.runningTools.length > 0) bridgeTool(step)',
    put: 'if (step.state.runningTools.length > 0) return',
    tests: [`${SESSION}/tool-wait.test.ts`],
  },
  {
    name: 'the renewal of an old model session',
    file: `${SESSION}/renewal.ts`,
    find: '  else step.set({ renewalDue: true })',
    put: '',
    tests: [`${SESSION}/renewal.test.ts`],
  },
  {
    name: 'telling the model what was heard of a clip',
    file: `${SESSION}/clips.ts`,
    find: 'if (isFirst && heardMs < sentMs) tellHeard(step, itemId)',
    put: 'if (!isFirst) tellHeard(step, itemId)',
    tests: [`${SESSION}/clips.test.ts`],
  },
  {
    name: 'each tool call once',
    file: `${SESSION}/tools.ts`,
    find: '  if (seenTools.includes(callId)) return\n',
    put: '',
    tests: [`${SESSION}/tools.test.ts`],
  },
  {
    name: 'the fallback model',
    file: `${SESSION}/outage.ts`,
    find: 'return !!plan.fallback && !model.isFallback',
    put: 'return !plan && !model',
    tests: [`${SESSION}/fallback.test.ts`],
  },
  {
    name: 'another session for a model that has stalled',
    file: `${SESSION}/stalled.ts`,
    find: '  if (leaveStalled(step, stalls)) return\n',
    put: '',
    tests: [`${SESSION}/stalled.test.ts`],
  },
  {
    name: 'silence for a turn that nothing ends',
    file: `${SESSION}/speech.ts`,
    find: "if (isMuted) step.do({ type: 'pad', ms: PADDING_MS })",
    put: '',
    tests: [`${SESSION}/stalled.test.ts`],
  },
  {
    name: 'the last words before the end',
    file: `${SESSION}/ending.ts`,
    find: 'ending.hangUp && isSilent && isDrained(playback, step.nowMs)',
    put: 'ending.hangUp && isSilent && playback !== null',
    tests: [`${SESSION}/ending.test.ts`],
  },
  {
    name: 'the order of the conversation',
    file: `${SESSION}/transcript.ts`,
    find: '  if (previous === -1) return held(rest, { entry: placed, previousItemId })\n',
    put: '  if (previous === -1) return insertAt(rest, placed, rest.entries.length)\n',
    tests: [`${SESSION}/transcript.test.ts`],
  },
]
