import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/proof.md'), 'utf8')

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => `F${first + n}`)
/** Those of a carrier, of a model, of tools and speech, and of what runs here. */
const FAULTS = [...range(1, 63), ...range(72, 77)]
/** Failures that others have had. */
const FAILURES = Array.from({ length: 38 }, (_, n) => `R${n + 1}`)

type Proof = { id: string; file: string; name: string }

/** The rows `| id | fault | expected | file › name | result |`: several tests of a row stand on lines of their own. */
function proofs(kind: 'F' | 'R' = 'F'): Proof[] {
  const rows = PAGE.split('\n').filter((line) => new RegExp(`^\\| ${kind}\\d+ \\|`).test(line))
  return rows.flatMap((row) => {
    const [, id = '', , , tests = '', result = ''] = row.split('|').map((cell) => cell.trim())
    if (result === '') throw new Error(`${id} has no result`)
    return tests.split('<br>').map((test) => {
      const [, file = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(test.trim()) ?? []
      return { id, file, name }
    })
  })
}

/** What a test or a row of one is called in a file, when that begins with the id of a fault. */
function namesIn(file: string): string[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  if (/\b(?:it|test|describe)\.(?:skip|todo|only)\b/.test(source)) throw new Error(`${file} leaves tests out`)
  return [...source.matchAll(/'(F\d+: [^']+)'/g)].map(([, name = '']) => name)
}

describe('the list of faults in docs/proof.md', () => {
  it('has every fault', () => {
    expect([...new Set(proofs().map(({ id }) => id))]).toEqual(FAULTS)
  })

  it('names tests that there are, each by the id of its fault', () => {
    const wrong = proofs().filter(
      ({ id, file, name }) =>
        !name.startsWith(`${id}: `) || !existsSync(join(ROOT, file)) || !namesIn(file).includes(name),
    )
    expect(wrong).toEqual([])
  })

  it('leaves out no test of the service that is named for one of them', () => {
    const listed = new Set(proofs().map(({ file, name }) => `${file} › ${name}`))
    const named = globSync('service/{src,test}/**/*.test.ts', { cwd: ROOT }).flatMap((file) =>
      namesIn(file).map((name) => ({ file, name })),
    )
    const ours = named.filter(({ name }) => FAULTS.includes(name.split(':')[0] ?? ''))
    expect(ours.map(({ file, name }) => `${file} › ${name}`).filter((each) => !listed.has(each))).toEqual([])
  })
})

describe('the list of failures in docs/proof.md', () => {
  it('has every one of them, each with a test that there is', () => {
    const listed = proofs('R')
    expect([...new Set(listed.map(({ id }) => id))]).toEqual(FAILURES)
    const source = (file: string) => (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '')
    expect(listed.filter(({ file, name }) => name === '' || !source(file).includes(`'${name}'`))).toEqual([])
  })
})
