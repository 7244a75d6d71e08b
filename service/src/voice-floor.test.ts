import { expect, it } from 'vitest'
import { makeSealer } from './kernel/seal.ts'
import { tokenSecrets } from './voice-floor.ts'

const [present, former] = [makeSealer(Buffer.alloc(32, 2)), makeSealer(Buffer.alloc(32, 1))]
const NONE = { streamTokenSecret: null, streamTokenSecretPrevious: null }
const secretsOf = (config: Partial<Record<keyof typeof NONE, string>>, formerSealer: typeof former | null) =>
  tokenSecrets({ config: { ...NONE, ...config }, sealer: present, formerSealer })

it('signs tokens by what is derived from the sealing key, and takes what the other key has signed while keys are changed', () => {
  const [ofFormer] = tokenSecrets({ config: NONE, sealer: former, formerSealer: null })
  expect(secretsOf({}, former)).toEqual([...secretsOf({}, null), ofFormer])
  expect(secretsOf({ streamTokenSecretPrevious: 'before' }, former)).toEqual([
    ...secretsOf({}, null),
    'before',
    ofFormer,
  ])
})

it('takes nothing that a sealing key has signed where there is a secret of its own', () => {
  const config = { streamTokenSecret: 'own', streamTokenSecretPrevious: 'before' }
  expect(secretsOf({ streamTokenSecret: 'own' }, former)).toEqual(['own'])
  expect(secretsOf(config, former)).toEqual(['own', 'before'])
})

it('takes at each step of a change what nodes of the step before sign, and has its own taken by them', () => {
  const steps = [
    { streamTokenSecret: 'old' },
    { streamTokenSecret: 'old', streamTokenSecretPrevious: 'new' },
    { streamTokenSecret: 'new', streamTokenSecretPrevious: 'old' },
    { streamTokenSecret: 'new' },
  ].map((config) => secretsOf(config, null))
  for (const [at, [signing]] of steps.entries()) {
    for (const beside of [steps[at - 1], steps[at + 1]]) expect(beside ?? [signing]).toContain(signing)
  }
})
