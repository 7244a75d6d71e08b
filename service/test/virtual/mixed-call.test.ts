import { expect, it } from 'vitest'
import { type MixedCall, mixedCallOf } from './mixed-call.ts'
import { faultsOfAll, faultsOfMixed } from './mixed-check.ts'
import { runMixed } from './mixed-nodes.ts'
import { MixedRun } from './mixed-run.ts'

const IS_FULL = Boolean(process.env['PARLEY_TEST_FULL'])
const RUNS = IS_FULL ? 1_000 : 40
/** Others each time where there are many, so that more and more of them have been run; else the same, so that what fails is what was changed. */
const FIRST_SEED = IS_FULL ? Date.now() % 1_000_000_000 : 1

it('A call in which people, transfers, other agents, a second voice, losses and the end of a node come together keeps to what it promises', async () => {
  const bad: string[] = []
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const runs = await runMixed(mixedCallOf(seed))
    bad.push(
      ...faultsOfAll(runs).map((fault) => `npm run test:mixed-calls -- --seed ${seed} --runs 1 --trace: ${fault}`),
    )
  }
  expect(bad).toEqual([])
}, 900_000)

/** A call that its agent puts through to somebody who presses 1 at 13.1 s, and has the caller from 14.3 s on, for 8 s. */
const PUT_THROUGH: MixedCall = {
  script: [{ cue: { afterMs: 4_000 }, forMs: 1_000, say: 'And then?' }],
  answers: [
    { length: 1, tool: 'warm_transfer', also: null },
    { length: 1, tool: null, also: null },
  ],
  incidents: [],
  tools: [{ ms: 0, isFailing: false }],
  targets: [{ answersMs: 500, isBusy: false, listensMs: 3_000, key: '1', talksMs: 8_000 }],
  rest: { restMs: 1_200, isRefused: false },
  speech: null,
  times: { connectMs: 100, oneWayMs: 5, onsetMs: 100, firstAudioMs: 100, deltaEveryMs: 20, transcriptMs: [200] },
  carrierDelayMs: 20,
  plan: {
    ...{ maxCallMs: 120_000, modelSessionMs: 3_000_000, minSpeechMs: 300, resumeFalseMs: 0, idleMs: 30_000 },
    ...{ hasFallback: false, holdsForTools: false, greeting: 'Welcome.' },
  },
}

it.each([14_000, 15_000])(
  'A target that has taken a call keeps it where another node is to have that %d ms after its beginning',
  async (afterMs) => {
    const incidents: MixedCall['incidents'] = [
      { afterMs, incident: { type: 'shut_down', how: 'taken', afterMs: 20_000 } },
    ]
    const run = new MixedRun({ ...PUT_THROUGH, incidents })
    await run.run()
    expect(faultsOfMixed(run)).toEqual([])
    expect(run.targets.heard.map(({ startMs, endMs }) => endMs - startMs)).toContain(8_000)
  },
)

it.each([13_200, 13_300])(
  'A caller whose stream was lost at %d ms, and is back before the target has them, is left alone nowhere',
  async (afterMs) => {
    const incidents: MixedCall['incidents'] = [{ afterMs, incident: { type: 'lose_stream', forMs: 300 } }]
    const run = new MixedRun({ ...PUT_THROUGH, incidents })
    await run.run()
    expect(faultsOfMixed(run)).toEqual([])
  },
)
