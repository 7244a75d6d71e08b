import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { ScriptedModel } from '../../../test/harness/scripted-model.ts'
import { type AgentVersionId, newId } from '../../kernel/ids.ts'
import { makeLog } from '../../platform/log.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import type { SimulationRow } from '../../records/simulations/simulation-store.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { simulateByVoice } from './call-by-voice.ts'
import { Purse } from './purse.ts'
import type { WantedRun } from './wanted-run.ts'

const USAGE = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }
const AUDIO = Buffer.alloc(1_600, 0xff).toString('base64')
/** Half a second of µ-law. */
const LOUD = Buffer.alloc(4_000, 0x00)
const nobody = () => Promise.reject(new Error('nobody is asked here'))

/** A call in which somebody says something, and hangs up. */
function call() {
  const [clock, model, stopping] = [new TestClock(), new ScriptedModel(), new AbortController()]
  const config = agentConfigDefaults({ greeting: 'Hello.' })
  const speaker = { agentId: null, agentKey: 'desk', agentName: 'Desk', versionNumber: 1, config }
  const wanted: WantedRun = {
    ...{ tenant: tenantTold('acme'), own: [], prompt: null, name: 'one', signal: stopping.signal, spentUsd: 0 },
    simulation: { caller_model: null, runs_tools: false } as SimulationRow,
    scenario: { name: 'Says something', caller: { steps: [{ say: 'Oh.' }, { hang_up: true }] } },
    agent: { ...speaker, versionId: newId<AgentVersionId>(clock.now()) },
    keep: async () => {},
    pay: async () => {},
  }
  const facts = {
    ...{ direction: 'inbound' as const, from: '+12025550147', to: 'desk', orgId: null, now: new Date(clock.now()) },
  }
  const voice = {
    ...{ realtime: model, fallback: null, secondVoice: null, modelSessionMs: 3_000_000 },
    ...{ speech: { model: 'scripted', defaultVoice: 'one', speak: async () => LOUD }, clipsOf: async () => [] },
  }
  const log = makeLog({ level: 'silent', secrets: [] })
  const purse = new Purse(null, 0)
  const run = simulateByVoice({ clock, log, voice, builtIns: [] }, wanted, {
    facts,
    model: { complete: nobody },
    purse,
  })
  return { clock, model, stopping, run }
}

/** The agent says something, which is heard. */
function answer({ last }: ScriptedModel, responseId: string, itemId: string, previousItemId: string | null): void {
  last.tell({ type: 'response_started', responseId })
  last.tell({ type: 'item_added', itemId, previousItemId, role: 'agent' })
  last.tell({ type: 'agent_transcript', responseId, itemId, text: 'Hello.', final: true })
  last.speak(responseId, itemId, AUDIO)
  last.tell({ type: 'audio_done', responseId, itemId })
  last.tell({ type: 'response_done', responseId, status: 'completed', errorCode: null, fault: null, usage: USAGE })
}

/** The caller has said something of which nobody has told the words, and hangs up: from then on the model hears nothing. */
async function untilHungUp({ clock, model }: ReturnType<typeof call>): Promise<void> {
  await clock.advance(20)
  answer(model, 'r1', 'i1', null)
  await clock.advance(1_000)
  model.last.tell({ type: 'speech_started', itemId: 'i2', audioStartMs: 1_000 })
  await clock.advance(500)
  model.last.tell({ type: 'speech_stopped', itemId: 'i2', audioEndMs: 1_500 })
  model.last.tell({ type: 'committed', itemId: 'i2', previousItemId: 'i1' })
  await clock.advance(100)
  answer(model, 'r2', 'i3', 'i2')
  const { appended } = model.last
  for (let frames = -1; frames < appended.length; await clock.advance(100)) frames = appended.length
}

describe('a call that is simulated by voice', () => {
  it('ends with the last words of it', async () => {
    const made = call()
    await untilHungUp(made)
    made.model.last.tell({ type: 'caller_transcript', itemId: 'i2', text: 'Oh.' })
    const { turns, endedBy } = await made.run
    expect([endedBy, ...turns.map(({ text }) => text)]).toEqual(['caller', 'Hello.', 'Oh.', 'Hello.'])
  })

  it('waits for no last words when it is to stop', async () => {
    const made = call()
    await untilHungUp(made)
    const reason = new Error('the service stops')
    made.stopping.abort(reason)
    await expect(made.run).rejects.toBe(reason)
  })
})
