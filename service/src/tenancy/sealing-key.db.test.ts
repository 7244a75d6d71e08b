import { describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { secretBytes } from '../kernel/ids.ts'
import { makeSealer } from '../kernel/seal.ts'
import { expectSealingKey, isSealingKey, noteSealingKey } from './sealing-key.ts'

const test = useDatabase()
const [ours, another] = [makeSealer(secretBytes(32)), makeSealer(secretBytes(32))]

describe('the sealing key', () => {
  it('is the first one that a database is started with, and no other', async () => {
    await expectSealingKey(test.db, ours)
    await expectSealingKey(test.db, ours)
    await expect(expectSealingKey(test.db, another)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^ENCRYPTION_KEY is not the key /),
    })
    await expectSealingKey(test.db, ours)
  })

  it('is one of those that start at once', async () => {
    const starts = [ours, another, ours, another].map((sealer) => expectSealingKey(test.db, sealer))
    const outcomes = (await Promise.allSettled(starts)).map(({ status }) => status)
    expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(2)
    expect(outcomes[0]).toBe(outcomes[2])
  })

  it('changes by a start with both, and is then the new one alone', async () => {
    await expectSealingKey(test.db, ours)
    await expectSealingKey(test.db, another, ours)
    expect(await isSealingKey(test.db, another)).toBe(false)
    await noteSealingKey(test.db, another)
    await noteSealingKey(test.db, another)
    expect(await isSealingKey(test.db, another)).toBe(true)
    await expectSealingKey(test.db, another)
    // A node that is still to be replaced.
    await expectSealingKey(test.db, ours, another)
    await expect(expectSealingKey(test.db, ours)).rejects.toThrow('give that one as ENCRYPTION_KEY_PREVIOUS')
  })
})
