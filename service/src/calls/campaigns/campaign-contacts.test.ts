import { describe, expect, it } from 'vitest'
import { readContactCsv, readContacts } from './campaign-contacts.ts'

describe('a list of contacts as CSV', () => {
  const metadataOf = (csv: string) => readContactCsv(csv).map(({ metadata }) => metadata)

  it('has truth as a value, as people and as spreadsheets write it, and other words as they are', () => {
    const csv = 'phone,consent,vip\n+12025550101,true,FALSE\n+12025550102,TRUE,True\n+12025550103,yes,\n'
    expect(metadataOf(csv)).toEqual([{ consent: true, vip: false }, { consent: true, vip: true }, { consent: 'yes' }])
  })

  it('names its numbers as a spreadsheet does, and whatever else as it is named, but nothing twice', () => {
    const [contact] = readContactCsv('\ufeffName, Phone \nAnn,+12025550101\n')
    expect(contact).toMatchObject({ phone: '+12025550101', metadata: { Name: 'Ann' } })
    expect(() => readContactCsv('phone,PHONE\n+12025550101,1\n')).toThrow()
  })

  it.each([
    ['phone,Full Name', 2],
    ['name,phone,', 3],
    ['phone,name,PHONE', 3],
  ])('of which a column is not named as it may be says which one it is: %s', (header, column) => {
    expect(() => readContactCsv(`${header}\n+12025550101,1,2\n`)).toThrow(
      `The body must name each column once, by the letters a to z, digits, _ and -: column ${column} is not named so.`,
    )
  })

  it('calls nobody twice who stands in it with the prefix of their country, too', async () => {
    const { contacts, errors } = await readContacts(readContactCsv('phone\n+33612345678\n+330612345678\n'), 0)
    expect(contacts.map(({ phone }) => phone)).toEqual(['+33612345678'])
    expect(errors).toEqual([{ at: 3, error: expect.stringContaining('as it is dialled from abroad') }])
  })

  it('calls nobody of a line that has more fields than there are columns, and says so', async () => {
    const csv = 'phone,name\n+12025550101,Ann, B.\n+12025550102,"Ben, C."\n'
    const { contacts, errors } = await readContacts(readContactCsv(csv), 0)
    expect(contacts).toMatchObject([{ phone: '+12025550102', metadata: { name: 'Ben, C.' } }])
    expect(errors).toEqual([{ at: 2, error: expect.stringContaining('more fields than the first line has columns') }])
  })
})
