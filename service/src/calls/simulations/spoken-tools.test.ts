import { expect, it } from 'vitest'
import type { SessionId } from '../../records/call-values.ts'
import { tenantTold } from '../../records/calls.fixture.ts'
import type { Tool, ToolCall } from '../../voice/tools/tool.ts'
import { makeSpokenTools } from './spoken-tools.ts'

const signal = new AbortController().signal
const declared = (name: string) => ({ declaration: { name, description: '', parameters: {} }, maxPerCall: null })
const done = (name: string, argumentsText = '{}') => ({
  ...{ callId: 'c1', seq: 1, name, argumentsText, result: '{}', status: 'ok' as const, startMs: 0, durationMs: 0 },
})

/** A call whose controls say what was done to it. */
function someCall(did: unknown[]): ToolCall {
  return {
    ...{ tenant: tenantTold('acme'), callSid: 'simulated', sessionId: 's1' as SessionId, streamSid: 'MZ1' },
    ...{ agentName: 'Robin', customerPhone: '+12025550147', callId: 'c1' },
    controls: {
      transfer: async (request) => void did.push(request),
      press: (keys) => did.push(keys) > 0,
      pauseRecording: () => true,
      escalated: (target) => void did.push(target),
      handOff: (_agent, { own }) => did.push(own) > 0,
    },
  }
}

it('has another agent not do with the tools of its own what this one may not', async () => {
  const rung: string[] = []
  const dangerous: Tool = { ...declared('charge_card'), run: async () => ({ output: { charged: rung.push('card') } }) }
  const handOff: Tool = {
    ...declared('hand_off'),
    run: async (_args, call) => ({
      output: { ok: call.controls.handOff({} as never, { own: [dangerous], clips: [], summary: '' }) },
    }),
  }
  const did: unknown[] = []
  const given = { tenant: tenantTold('acme'), own: [dangerous], builtIns: [handOff], runsTools: false, name: 'run' }
  const tools = makeSpokenTools({
    ...given,
    results: [{ name: 'charge_card', arguments: { eur: 5 }, output: { paid: true } }],
  })
  await tools.builtIns[0]?.run({}, someCall(did), signal)
  const [itsOwn] = did[0] as Tool[]
  for (const tool of [tools.own[0], itsOwn]) {
    expect(await tool?.run({ eur: 5 }, someCall([]), signal)).toEqual({ output: { paid: true } })
    expect(await tool?.run({ eur: 6 }, someCall([]), signal)).toMatchObject({ output: { ok: true } })
  }
  expect(rung).toEqual([])
})

it('rings nobody, and refuses a number to which the tenant’s calls are not put through', async () => {
  const transfer: Tool = {
    ...declared('transfer_call'),
    async run(args, call) {
      await call.controls.transfer({ target: (args as { to: string }).to, summary: '', isWarm: false })
      return { output: { ok: true } }
    },
  }
  const tenant = { ...tenantTold('acme'), transfer_targets: ['+12025550199'] }
  const tools = makeSpokenTools({ tenant, own: [], builtIns: [transfer], results: [], runsTools: false, name: 'run' })
  const did: unknown[] = []
  await expect(tools.builtIns[0]?.run({ to: '+12025550100' }, someCall(did), signal)).rejects.toThrow()
  expect(tools.isTransferred).toBe(false)
  await tools.builtIns[0]?.run({ to: '+12025550199' }, someCall(did), signal)
  expect([tools.isTransferred, did]).toEqual([true, []])
})

it('says once who has answered: nobody, where the arguments did not fit', () => {
  const tools = makeSpokenTools({
    ...{ tenant: tenantTold('acme'), own: [], builtIns: [], results: [], runsTools: false, name: 'run' },
  })
  tools.done({ ...done('end_call'), result: null, status: 'timeout' })
  tools.done(done('end_call', '{"no":\u0000'))
  expect(tools.calls).toMatchObject([{ name: 'end_call', answeredBy: 'nobody', status: 'ok' }])
})
