import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

/** What stands first in `it(…)`, or in the second pair of `it.each(…)(…)`. */
const TITLE = /(?:\b(?:it|test)|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gs

/** What a table fills in: `%s`, `$name`, `${name}`. */
const FILLED_IN = /%[sdijfoO#]|\$\{[^}]*\}|\$\w+(?:\.\w+)*/g

/** Whether a file has a test that runs under this name; one of a table does under the names of its rows, and never under its title. */
export function hasTest(file: string, name: string): boolean {
  const path = join(ROOT, file)
  if (!existsSync(path)) return false
  const titles = [...readFileSync(path, 'utf8').matchAll(TITLE)].map(([, , title = '']) => title)
  return titles.some((title) => patternOf(title).test(name) && !(title === name && isOfTable(title)))
}

function isOfTable(title: string): boolean {
  return title.search(FILLED_IN) !== -1
}

function patternOf(title: string): RegExp {
  const parts = title.replaceAll(/\\(.)/g, '$1').split(FILLED_IN)
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('.*')}$`, 's')
}
