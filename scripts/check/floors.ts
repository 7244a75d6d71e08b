import { cycles } from './rules/cycles.ts'
import { layers } from './rules/layers.ts'
import { moduleState } from './rules/module-state.ts'
import { packages } from './rules/packages.ts'
import { shape } from './rules/shape.ts'
import { sleepless } from './rules/sleeps.ts'
import { surroundings } from './rules/surroundings.ts'
import type { Source } from './source.ts'
import type { Violation } from './violation.ts'

function unparsed(source: Source): Violation[] {
  return source.errors.map((message) => ({ file: source.path, line: 1, rule: 'syntax', message }))
}

const RULES = [unparsed, layers, packages, surroundings, moduleState, shape, sleepless]

/** What breaks the order of the house in these files, in the order of the files. Pure: it reads nothing but them. */
export function checkFloors(sources: Source[]): Violation[] {
  const found = [...sources.flatMap((source) => RULES.flatMap((rule) => rule(source))), ...cycles(sources)]
  return found.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
}
