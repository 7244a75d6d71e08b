import { describe, expect, it } from 'vitest'
import { othersTurns } from '../../../test/harness/others-turns.ts'
import { readContactCsv, readContacts } from './campaign-contacts.ts'

describe('a list of contacts as CSV', () => {
  const metadataOf = async (csv: string) => (await readContactCsv(csv)).map(({ metadata }) => metadata)

  it('has truth as a value, as people and as spreadsheets write it, and other words as they are', async () => {
    const csv = 'phone,consent,vip\n+12025550101,true,FALSE\n+12025550102,TRUE,True\n+12025550103,yes,\n'
    expect(await metadataOf(csv)).toEqual([
      { consent: true, vip: false },
      { consent: true, vip: true },
      { consent: 'yes' },
    ])
  })

  it('names its numbers as a spreadsheet does, and whatever else as it is named, but nothing twice', async () => {
    const [contact] = await readContactCsv('\ufeffName, Phone \nAnn,+12025550101\n')
    expect(contact).toMatchObject({ phone: '+12025550101', metadata: { Name: 'Ann' } })
    await expect(readContactCsv('phone,PHONE\n+12025550101,1\n')).rejects.toThrow()
  })

  it.each([
    ['phone,Full Name', 2],
    ['name,,phone', 2],
    ['phone,name,PHONE', 3],
  ])('of which a column is not named as it may be says which one it is: %s', async (header, column) => {
    await expect(readContactCsv(`${header}\n+12025550101,1,2\n`)).rejects.toThrow(
      `The body must name each column once, by the letters a to z, digits, _ and -: column ${column} is not named so.`,
    )
  })

  it('may have columns at its end in which nothing stands, as a spreadsheet writes them', async () => {
    const csv = 'phone,name,, \n+12025550101,Ann,,\n+12025550102,Ben\n+12025550103,Cleo,,yes\n'
    const { contacts, errors } = await readContacts(await readContactCsv(csv), 0)
    expect(contacts.map(({ metadata }) => metadata)).toEqual([{ name: 'Ann' }, { name: 'Ben' }])
    expect(errors).toEqual([{ at: 4, error: expect.stringContaining('more fields than the first line has columns') }])
  })

  it('calls nobody twice who stands in it with the prefix of their country, too', async () => {
    const { contacts, errors } = await readContacts(await readContactCsv('phone\n+33612345678\n+330612345678\n'), 0)
    expect(contacts.map(({ phone }) => phone)).toEqual(['+33612345678'])
    expect(errors).toEqual([{ at: 3, error: expect.stringContaining('as it is dialled from abroad') }])
  })

  it('calls nobody of a line that has more fields than there are columns, and says so', async () => {
    const csv = 'phone,name\n+12025550101,Ann, B.\n+12025550102,"Ben, C."\n'
    const { contacts, errors } = await readContacts(await readContactCsv(csv), 0)
    expect(contacts).toMatchObject([{ phone: '+12025550102', metadata: { name: 'Ben, C.' } }])
    expect(errors).toEqual([{ at: 2, error: expect.stringContaining('more fields than the first line has columns') }])
  })

  it('lets calls go on while it is read, however many lines and columns it has', async () => {
    const columns = Array.from({ length: 49 }, (_, n) => `column_${n}`)
    const csv = `phone,${columns.join(',')}\n${'1\n'.repeat(20_000)}`
    const { done, turns } = await othersTurns(() => readContactCsv(csv))
    expect(done).toHaveLength(20_000)
    expect(turns).toBeGreaterThanOrEqual(8)
  })
})
