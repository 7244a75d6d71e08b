import type { CallFacts, Utterance } from './call-facts.ts'
import type { Finding } from './check-expectations.ts'

/** What came of a scenario. */
export type ScenarioReport = {
  name: string
  ok: boolean
  findings: Finding[]
  facts: CallFacts
  /** Both sides, for a recording. Null for a call that was never answered. */
  audio: { caller: Uint8Array; agent: Uint8Array } | null
}

const MARKS = { ok: '✓', failed: '✗', skipped: '–' }
const NAME_WIDTH = 20

/** A report for people: the conversation as it was heard, the figures, and each expectation. */
export function reportText(report: ScenarioReport): string {
  const { facts } = report
  return [
    `${report.ok ? 'PASS' : 'FAIL'}  ${report.name}`,
    ...(facts.sid === '' ? [] : [callLine(facts)]),
    '',
    ...facts.conversation.map(utteranceLine),
    ...facts.tools.map(
      ({ name, arguments: given, output }) => `         tool    ${name}(${given}) → ${output ?? 'nothing yet'}`,
    ),
    '',
    ...figures(report),
    ...report.findings.map(({ what, state, detail }) => `  ${MARKS[state]} ${what.padEnd(NAME_WIDTH)} ${detail}`),
    '',
  ].join('\n')
}

/** A report for programs. The audio is left out. */
export function reportJson({ name, ok, findings, facts }: ScenarioReport): string {
  return JSON.stringify({ name, ok, findings, facts })
}

function callLine({ sid, from, to, end, measures }: CallFacts): string {
  const seconds = (measures?.durationMs ?? 0) / 1000
  return `      call ${sid} from ${from} to ${to}: ${end.status} by ${end.by}, ${seconds.toFixed(1)} s`
}

function utteranceLine({ who, atMs, text }: Utterance): string {
  return `${(atMs / 1000).toFixed(1).padStart(6)} s  ${who.padEnd(7)} ${text ?? '(sound that was not made here)'}`
}

function figures({ facts: { measures } }: ScenarioReport): string[] {
  if (!measures) return []
  const { firstWordMs, replyGapsMs, longestSilenceMs, clears, clicks, repeats, agentVoicedShare, callerVoicedShare } =
    measures
  const percent = (share: number) => `${Math.round(share * 100)} %`
  return [
    `  first word ${firstWordMs ?? '–'} ms · replies after ${replyGapsMs.join(', ') || '–'} ms · longest silence ${longestSilenceMs} ms`,
    `  voiced: agent ${percent(agentVoicedShare)}, caller ${percent(callerVoicedShare)} · clears ${clears} · clicks ${clicks} · repeats ${repeats}`,
    '',
  ]
}
