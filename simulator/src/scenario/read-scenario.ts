import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { parse } from 'yaml'
import { ModelError } from '../model/model-error.ts'
import { type Scenario, scenarioShape } from './scenario-shape.ts'

/** A scenario that cannot be run; the message names the file and what is wrong in it. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
}

/** Reads a scenario from YAML. `source` is what to call it in errors. @throws ScenarioError. */
export function parseScenario(yaml: string, source: string): Scenario {
  const written = writtenIn(yaml, source)
  try {
    return scenarioShape(written, '')
  } catch (error) {
    if (error instanceof ModelError) throw new ScenarioError(`${source}: ${error.message}`)
    throw error
  }
}

/** Not only by its own errors does the parser say that YAML is wrong: an alias of nothing is a ReferenceError. */
function writtenIn(yaml: string, source: string): unknown {
  try {
    return parse(yaml)
  } catch (error) {
    throw new ScenarioError(`${source}: ${error instanceof Error ? error.message : 'is no YAML'}`)
  }
}

/** Reads a scenario file. @throws ScenarioError, also when there is no such file. */
export async function readScenario(path: string): Promise<Scenario> {
  const yaml = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ScenarioError(`${path}: ${error instanceof Error ? error.message : 'cannot be read'}`)
  })
  return parseScenario(yaml, basename(path))
}
