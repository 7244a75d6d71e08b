import type { EarlierStream } from '../../src/records/sessions.ts'
import { type FunctionCallRow, NOT_ANSWERED, type TurnRow } from '../../src/records/transcript-store.ts'
import { storedTimeline } from '../../src/records/turn-timeline.ts'
import { resumptionOf } from '../../src/voice/held-stream.ts'
import type { Turn } from '../../src/voice/session/events.ts'
import type { MixedCall } from './mixed-call.ts'
import { MixedRun } from './mixed-run.ts'
import { BEGUN, PLAIN } from './mixed-setting.ts'

/** Lets a call happen to its end, on each node that it goes on at; the sessions that it had, in their order. */
export async function runMixed(call: MixedCall): Promise<MixedRun[]> {
  const runs = [new MixedRun(call)]
  const rows: FunctionCallRow[] = []
  for (;;) {
    const last = runs.at(-1)
    if (!last) return runs
    await last.run()
    const { next } = last.call
    if (!next || !hasMoved(last)) return runs
    rows.push(...calledIn(last, rows.length))
    runs.push(after(last, { runs, rows }))
  }
}

/** Whether another node is to have the call, which has not ended. */
function hasMoved(run: MixedRun): boolean {
  const { world, isKilled } = run
  if (isKilled) return !world.isCallOver && run.targets.where.at === 'stream'
  return world.ends[0] === 'shutdown' && world.session.state.isLetGo && !world.isCallOver
}

function after(last: MixedRun, { runs, rows }: { runs: readonly MixedRun[]; rows: FunctionCallRow[] }): MixedRun {
  const { next = null } = last.call
  if (!next) throw new Error('the call goes on nowhere')
  const { afterMs: _after, how: _how, gapMs, ...happens } = next
  const setting = { ...(last.call.setting ?? PLAIN), before: null }
  const isOthers = last.call.isOthers === true || last.handOffs.length > 0
  const turns = runs.flatMap(({ world }) => world.transcript)
  const [first] = runs
  const begun = first?.resumption?.turns.map((turn) => ({ ...OF_BEFORE, ...turn })) ?? []
  const all = [...begun, ...turns]
  const leftAtMs = last.world.endedAtMs ?? last.world.clock.monotonicMs()
  const nowMs = (last.resumption?.elapsedMs ?? 0) + leftAtMs + gapMs
  const before = earlierOf(last, { turns: all, toolCalls: rows })
  const resumption = resumptionOf(before, runs.length + 2, new Date(nowMs))
  return new MixedRun(
    { ...last.call, silentMs: null, next: null, ...happens, setting, isOthers },
    { resumption, turns: all, runs: [...runs] },
  )
}

const OF_BEFORE = {
  ...{ itemId: BEGUN, startMs: 0, endMs: 0, interrupted: false, sentMs: null, heardMs: null },
} as const

/** As the records have it. */
function earlierOf(
  { world, resumption, checkpoint, isKilled }: MixedRun,
  { turns, toolCalls }: { turns: readonly Turn[]; toolCalls: FunctionCallRow[] },
): EarlierStream {
  const state = isKilled ? checkpoint : world.session.state
  const usage = state?.usage ??
    resumption?.usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
  const answered = world.notes.findLast((note) => note.type === 'answered')
  const paused = toolCalls.findLast(({ name, status }) => (name === 'pause' || name === 'go_on') && status === 'ok')
  return {
    ...{ startedAt: new Date(0), streamSid: null, escalation: null },
    turns: turns.map(rowOf),
    toolCalls: [...toolCalls],
    isRecordingPaused: paused?.name === 'pause',
    answered: {
      answered_by: answered?.by ?? resumption?.answered?.by ?? null,
      answered_by_source: answered?.from ?? resumption?.answered?.from ?? null,
    },
    latency: {
      greeting_ms: state?.latency.greetingMs ?? null,
      ...{ response_p50_ms: null, response_p95_ms: null },
      interruptions: state?.latency.interruptions ?? 0,
    },
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cached_tokens: usage.cachedTokens,
      audio_seconds: usage.audioSeconds,
    },
    costUsd: state ? state.costUsd : (resumption?.costUsd ?? null),
  }
}

const OF_NOBODY = { tenant_id: 'acme', session_id: 's1' } as unknown as Pick<TurnRow, 'tenant_id' | 'session_id'>

function rowOf(turn: Turn): TurnRow {
  return {
    ...OF_NOBODY,
    ...{ item_id: turn.itemId, seq: turn.seq, role: turn.role, agent_name: turn.agentName ?? null },
    ...{ text: turn.text, unheard: turn.unheard, start_ms: turn.startMs, end_ms: turn.endMs },
    ...{ interrupted: turn.interrupted, sent_ms: turn.sentMs, heard_ms: turn.heardMs, cost_usd: turn.costUsd ?? null },
    timeline: turn.timeline ? storedTimeline(turn.timeline) : null,
  }
}

function calledIn({ world, outcomes, resumption }: MixedRun, seq: number): FunctionCallRow[] {
  return world.toolRuns.map(({ callId, name, argumentsText, atMs }, at) => {
    const ended = outcomes.find(({ outcome }) => outcome.callId === callId)
    const startMs = Math.round(atMs)
    const endMs = (ended?.atMs ?? 0) + (resumption?.elapsedMs ?? 0)
    return {
      ...OF_NOBODY,
      ...{ call_id: callId, seq: seq + at + 1, name, arguments: argumentsText },
      ...{ result: ended?.outcome.output ?? NOT_ANSWERED, status: ended?.outcome.status ?? 'timeout' },
      ...{ start_ms: startMs, duration_ms: ended ? Math.max(0, Math.round(endMs - startMs)) : 0 },
    }
  })
}
