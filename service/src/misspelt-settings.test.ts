import { describe, expect, it } from 'vitest'
import { misspeltIn } from './misspelt-settings.ts'

describe('A variable that nobody reads', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['REDIS_UL', 'REDIS_URL'],
    ['MAX_CAL', 'MAX_CALLS'],
    ['database_url', 'DATABASE_URL'],
  ])('%s is taken for %s', (variable, meant) => {
    expect(misspeltIn({ [variable]: 'x' })).toEqual([{ variable, meant }])
  })

  it.each(['PATH', 'HOME', 'PORTS', 'PGDATABASE', 'LOG_PATH', 'REDIS_PASSWORD', 'HOSTNAME', 'NODE_ENV'])(
    '%s is no setting of ours',
    (variable) => {
      expect(misspeltIn({ [variable]: 'x' })).toEqual([])
    },
  )

  it('is nothing where the setting itself is given, or it is empty', () => {
    expect(misspeltIn({ DATABSE_URL: 'x', DATABASE_URL: 'y', REDIS_UL: '', MAX_CALLS: '1' })).toEqual([])
  })
})
