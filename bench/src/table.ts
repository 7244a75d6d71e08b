import type { Quality, Row } from './summary.ts'
import type { Delays } from './tally.ts'

const COLUMNS: readonly [title: string, cell: (row: Row) => string][] = [
  ['calls', (row) => String(row.calls)],
  ['under test', (row) => row.system],
  ['CPU ms per call-second', (row) => row.cpuMsPerCallSecond.toFixed(2)],
  ['× raw-ws', (row) => row.relative.cpu.toFixed(2)],
  ['core', (row) => `${row.busyPercent.toFixed(0)} %`],
  ['RSS KB/call', (row) => row.rssKbPerCall.toFixed(0)],
  ['caller→model p50/p99 ms', (row) => delays(row.callerToModel)],
  ['first delta p50/p99 ms', (row) => delays(row.firstDelta)],
  ['barge-in→clear p50/p99 ms', (row) => delays(row.bargeInToClear)],
  ['lost/doubled/crossed', (row) => `${row.lost}/${row.doubled}/${row.crossed}`],
  ['late', (row) => String(row.late)],
  ['calls refused', (row) => String(row.refusedCalls)],
  ['other faults', (row) => String(row.otherFaults)],
  ['ring→greeting p50/p99 ms', (row) => delays(row.greeting, 0)],
]

const LATENCY_COLUMNS: readonly [title: string, cell: (row: Row) => string][] = [
  ['calls', (row) => String(row.calls)],
  ['under test', (row) => row.system],
  ['stream start→first word p50/p99 ms', (row) => delays(row.firstWord)],
  ['own share of a turn p50/p99 ms', (row) => delays(row.ownTurn)],
  ['barge-in→clear p50/p99 ms', (row) => delays(row.bargeInToClear)],
  [
    'first words/turns/interruptions',
    ({ firstWord, ownTurn, bargeInToClear }) =>
      [firstWord, ownTurn, bargeInToClear].map(({ count }) => count).join('/'),
  ],
  ['core', (row) => `${row.busyPercent.toFixed(0)} %`],
  ['other faults', (row) => String(row.otherFaults)],
]

/** What callers wait for, as a Markdown table: counts are of one round, the median of them. */
export function renderLatency(rows: readonly Row[]): string {
  return tableOf(LATENCY_COLUMNS, rows)
}

/** The rows as a Markdown table with aligned columns, for the terminal and for the docs. */
export function renderTable(rows: readonly Row[]): string {
  return tableOf(COLUMNS, rows)
}

function tableOf(columns: typeof COLUMNS, rows: readonly Row[]): string {
  return markdown([columns.map(([title]) => title), ...rows.map((row) => columns.map(([, cell]) => cell(row)))])
}

/** What the threads of each system took, as a Markdown table. */
export function renderThreads(rows: readonly Row[]): string {
  const cells = rows.flatMap((row) =>
    row.threads.map((thread) => [String(row.calls), row.system, thread.name, thread.cpuMsPerCallSecond.toFixed(3)]),
  )
  return markdown([['calls', 'under test', 'thread', 'CPU ms per call-second'], ...cells])
}

/** One line per number of calls: the yardstick's own ratio, and the noise. */
export function renderQuality(quality: readonly Quality[], rows: readonly Row[]): string {
  return quality.map((one) => qualityLine(one, rows)).join('\n')
}

function qualityLine(one: Quality, rows: readonly Row[]): string {
  const spread = Math.max(...rows.filter((row) => row.calls === one.calls).map((row) => row.cpuSpread))
  const parts = [
    ...(Number.isNaN(one.relayOverFloor) ? [] : [`raw-ws ${one.relayOverFloor.toFixed(2)} × raw-net`]),
    `CPU spread ${(spread * 100).toFixed(0)} %`,
    `load late p99 ${one.lateP99Ms.toFixed(1)} ms, worst ${one.lateMaxMs.toFixed(0)} ms, its core ${one.loadBusyPercent.toFixed(0)} % busy`,
    `other processes ${one.othersPercent.toFixed(1)} % of a core`,
    `steal ${one.stealPercent.toFixed(1)} %`,
    `retried ${one.retried}`,
  ]
  return `- ${one.calls} calls: ${parts.join('; ')}.${one.voidBecause.map((reason) => ` VOID: ${reason}.`).join('')}`
}

function delays({ count, p50Ms, p99Ms }: Delays, digits = 2): string {
  return count === 0 ? 'none' : `${p50Ms.toFixed(digits)} / ${p99Ms.toFixed(digits)}`
}

/** A Markdown table of `lines`, its head first. */
export function markdown(lines: string[][]): string {
  const [head = []] = lines
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const padded = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [padded[0], rule, ...padded.slice(1)].join('\n')
}
