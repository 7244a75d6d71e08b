import { describe, expect, it } from 'vitest'
import { inspection, program, runSteps, type StepResult } from './step.ts'

const run = (steps: Parameters<typeof runSteps>[0], told: StepResult[] = []): Promise<StepResult[]> =>
  runSteps(steps, 2, (result) => told.push(result))

describe('the steps of the check', () => {
  it('fail when a program ends with another code than 0, and keep all that it said', async () => {
    const results = await run([program('types', 'tsc', ['--no-such-option'])])
    expect(results).toMatchObject([{ name: 'types', ok: false, output: expect.stringContaining('no-such-option') }])
  })

  it('pass when a program ends with code 0', async () => {
    expect(await run([program('types', 'tsc', ['--version'])])).toMatchObject([{ ok: true }])
  })

  it('fail when an inspection has a complaint', async () => {
    const results = await run([inspection('a', () => []), inspection('b', () => ['one', 'two'])])
    expect(results).toMatchObject([
      { name: 'a', ok: true },
      { name: 'b', ok: false, output: 'one\ntwo' },
    ])
  })

  it('are all told, also those after a failure', async () => {
    const told: StepResult[] = []
    await run([inspection('a', () => ['bad']), inspection('b', () => []), inspection('c', () => [])], told)
    expect(told.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c'])
  })
})
