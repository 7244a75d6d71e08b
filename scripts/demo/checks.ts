import type { ScenarioReport } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import type { StoredCall } from './stored-call.ts'

/** One thing that has to be true of a rehearsed call, with what it was. */
export type Check = { what: string; ok: boolean; figure: string }

/** Of the whole call, from the answer to the hang-up. */
const MIN_VOICED_SHARE = 0.3
const MAX_GAP_MS = 2_500
const TOOL = 'schedule_callback'

/** What the call sounded like, as the caller's telephone had it. */
export function checkAudio({ facts: { measures, end } }: ScenarioReport): Check[] {
  if (!measures) return [{ what: 'the call was answered', ok: false, figure: end.status }]
  const { agentVoicedShare, callerVoicedShare, longestSilenceMs, replyGapsMs, clears, clicks, seams, repeats } =
    measures
  const gapMs = Math.max(longestSilenceMs, ...replyGapsMs)
  return [
    voiced('caller', callerVoicedShare),
    voiced('agent', agentVoicedShare),
    { what: 'one interruption cleared the line', ok: clears === 1, figure: `${clears} clears` },
    { what: `no gap over ${MAX_GAP_MS} ms`, ok: gapMs <= MAX_GAP_MS, figure: `${gapMs} ms` },
    { what: 'no click where audio was joined', ok: clicks === 0, figure: `${clicks} clicks at ${seams} seams` },
    { what: 'nothing heard twice in a row', ok: repeats === 0, figure: `${repeats} repeats` },
  ]
}

/** The audio, the record as the service stored it, and all that the scenario itself expects. */
export function checkCall(scenario: Scenario, report: ScenarioReport, { log, session }: StoredCall): Check[] {
  const audio = checkAudio(report)
  if (!report.facts.measures) return audio
  const tools = session.function_calls.filter(({ name }) => name === TOOL)
  return [
    ...audio,
    { what: 'one tool row stored', ok: tools.length === 1 && tools[0]?.status === 'ok', figure: toolFigure(tools) },
    sameWords(scenario, session),
    { what: 'the call log is complete', ok: log.status === 'completed', figure: log.status },
    { what: 'the agent ended the call', ok: session.end_reason === 'agent_hangup', figure: String(session.end_reason) },
    ...report.findings.map(({ what, state, detail }) => ({ what, ok: state !== 'failed', figure: detail })),
  ]
}

/** A check as one line. */
export function checkText({ what, ok, figure }: Check): string {
  return `${ok ? 'ok  ' : 'FAIL'}  ${what.padEnd(40)} ${figure}`
}

function voiced(side: 'caller' | 'agent', share: number): Check {
  const what = `the ${side}'s channel is voiced over ${MIN_VOICED_SHARE * 100} %`
  return { what, ok: share > MIN_VOICED_SHARE, figure: `${(share * 100).toFixed(1)} %` }
}

function toolFigure(tools: StoredCall['session']['function_calls']): string {
  return `${tools.length} of ${TOOL}${tools.map(({ status }) => `, ${status}`).join('')}`
}

function sameWords(scenario: Scenario, { transcript }: StoredCall['session']): Check {
  const said = (scenario.caller.steps ?? []).flatMap(({ say }) => (say === undefined ? [] : [plain(say)]))
  const stored = transcript.filter(({ role }) => role === 'caller').map(({ text }) => plain(text))
  const wrong = said.findIndex((words, i) => words !== stored[i])
  const ok = wrong === -1 && said.length === stored.length
  const figure = ok ? `${said.length} turns, word for word` : `${stored.length} turns: ${JSON.stringify(stored)}`
  return { what: "the caller's turns are stored as said", ok, figure }
}

/** Words alone: how a transcript is punctuated is the model's matter. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s]/gu, '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .join(' ')
}
