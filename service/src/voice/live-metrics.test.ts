import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { makeLiveMetrics } from './live-metrics.ts'

it('counts what the time of a turn went to, and what of it was our own', async () => {
  const registry = new Registry()
  const { noted } = makeLiveMetrics(registry, () => 0)
  const request = { speechEndMs: 1_000, committedMs: 1_500, askedMs: 1_502 }
  const answer = { firstByteMs: 2_000, firstSentMs: 2_001, heardMs: 2_041, tools: [] }
  noted({ type: 'timeline', itemId: 'item_1', timeline: { ...request, ...answer } })
  const lines = (await registry.metrics()).split('\n')
  const sums = lines.filter((line) => /^voice_turn_(stage|own)_seconds_sum/.test(line))
  expect(sums).toEqual([
    'voice_turn_stage_seconds_sum{stage="commit"} 0.5',
    'voice_turn_stage_seconds_sum{stage="ask"} 0.002',
    'voice_turn_stage_seconds_sum{stage="model"} 0.498',
    'voice_turn_stage_seconds_sum{stage="send"} 0.001',
    'voice_turn_stage_seconds_sum{stage="play"} 0.04',
    'voice_turn_own_seconds_sum 0.003',
  ])
})
