import type { Node } from 'oxc-parser'
import { isHouseCode, isUnder } from '../paths.ts'
import type { Source } from '../source.ts'
import { type Violation, violation } from '../violation.ts'

const RULE = 'module-state'
const MESSAGE = 'a call, a tenant or a process has an owner; what a module holds is shared by all of them'

/** Bytes for masks and the ids of requests belong to the process as such; a `WeakMap` hangs on what it is keyed by. */
const PROCESS_WIDE = 'platform'
const COLLECTIONS = ['Map', 'Set']

/** An empty collection is there to be filled; one that is made of values is a table. */
function isToBeFilled(init: Node | null): boolean {
  if (init?.type === 'ArrayExpression') return init.elements.length === 0
  if (init?.type !== 'NewExpression' || init.callee.type !== 'Identifier') return false
  return COLLECTIONS.includes(init.callee.name) && init.arguments.length === 0
}

function holdsState(statement: Node): boolean {
  const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declared?.type !== 'VariableDeclaration') return false
  return declared.kind !== 'const' || declared.declarations.some(({ init }) => isToBeFilled(init))
}

/** Nothing of the house keeps what changes in a variable of its module: one session would answer for all callers. */
export function moduleState(source: Source): Violation[] {
  if (!isHouseCode(source.path) || isUnder(source.path, PROCESS_WIDE)) return []
  return source.program.body.filter(holdsState).map((node) => violation(source, node, RULE, MESSAGE))
}
