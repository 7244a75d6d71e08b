import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { MediaPath } from './media-path.ts'
import type { EndReason, LiveNote, TurnTimeline } from './session/events.ts'
import { stagesOf } from './turn-stages.ts'

/** The numbers of the calls of this process. */
export type LiveMetrics = {
  noted(note: LiveNote): void
  /** A provider did not do something, or a session with it ended by itself. */
  modelFault(code: string): void
  /** What a call has given the secondary provider to speak. */
  spoken(characters: number): void
  /** To be told once for each session, with what went through its media path. `reason`: null when others have its call. */
  ended(reason: EndReason | null, media: Pick<MediaPath, 'framesIn' | 'shedFrames' | 'lateDeltas'>): void
}

/** The codes are a provider's and might be any: those after so many different ones are counted as `other`. */
const MAX_CODES = 64

/** From what our own work takes to what a provider may. */
const STAGE_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10]

const LATENCY_BUCKETS_SECONDS = [0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10]

/** @param liveCalls is asked when the metrics are read. */
export function makeLiveMetrics(registry: Registry, liveCalls: () => number): LiveMetrics {
  const registers = [registry]
  new Gauge({
    name: 'voice_live_calls',
    help: 'Calls whose stream is on this process.',
    registers,
    collect() {
      this.set(liveCalls())
    },
  })
  const ended = new Counter({
    name: 'voice_calls_ended_total',
    help: 'Calls that ended, by the reason of their session.',
    labelNames: ['reason'],
    registers,
  })
  const counter = (name: string, help: string) => new Counter({ name, help, registers })
  const framesIn = counter('voice_caller_frames_total', 'Audio frames of callers, counted when their call ends.')
  const framesShed = counter('voice_caller_frames_shed_total', 'Those of them that a slow model did not get.')
  const lateDeltas = counter(
    'voice_late_deltas_total',
    'Pieces of answers that were dropped: the answer was silenced, or the carrier takes no more.',
  )
  const interruptions = counter('voice_interruptions_total', 'Utterances of the agent that a caller cut short.')
  const resumed = counter('voice_resumed_total', 'Times that the agent went on because no words had stopped it.')
  const silences = counter(
    'voice_dead_air_total',
    'Times that nothing was heard for 2.5 s while an answer was owed, or a tool ran.',
  )
  const voicesLost = counter(
    'voice_secondary_lost_total',
    'Calls whose secondary provider of speech failed, so that the model spoke until their end.',
  )
  const characters = counter(
    'voice_secondary_characters_total',
    'Characters that the secondary provider was given to speak, counted when their call ends.',
  )
  const latency = new Histogram({
    name: 'voice_response_seconds',
    help: "From the end of a caller's turn to the first sound of the answer.",
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  })
  const stages = new Histogram({
    name: 'voice_turn_stage_seconds',
    help: "What the time from a caller's last sound to the hearing of the answer went to, by stage.",
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  })
  const own = new Histogram({
    name: 'voice_turn_own_seconds',
    help: 'What of it was our own: from the end of the turn to the request, and from the first byte to the carrier.',
    buckets: STAGE_BUCKETS_SECONDS,
    registers,
  })
  const turn = (timeline: TurnTimeline) => {
    const took = stagesOf(timeline)
    for (const [stage, ms] of took) stages.observe({ stage }, ms / 1_000)
    own.observe(((took.get('ask') ?? 0) + (took.get('send') ?? 0)) / 1_000)
  }
  const modelFaults = new Counter({
    name: 'voice_model_faults_total',
    help: "What model providers refused or broke off, by the provider's code.",
    labelNames: ['code'],
    registers,
  })
  const codes = new Set<string>()
  return {
    modelFault(code) {
      if (codes.size < MAX_CODES) codes.add(code)
      modelFaults.inc({ code: codes.has(code) ? code : 'other' })
    },
    noted(note) {
      if (note.type === 'latency') latency.observe(note.responseMs / 1_000)
      if (note.type === 'timeline') turn(note.timeline)
      if (note.type === 'interrupted') interruptions.inc()
      if (note.type === 'resumed') resumed.inc()
      if (note.type === 'dead_air') silences.inc()
      if (note.type === 'voice_lost') voicesLost.inc()
    },
    spoken: (count) => characters.inc(count),
    ended(reason, media) {
      if (reason !== null) ended.inc({ reason })
      framesIn.inc(media.framesIn)
      framesShed.inc(media.shedFrames)
      lateDeltas.inc(media.lateDeltas)
    },
  }
}
