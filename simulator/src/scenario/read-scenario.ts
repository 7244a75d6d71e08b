import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { parse } from 'yaml'
import { ModelError } from '../model/model-error.ts'
import { partiesOf } from './caller-of.ts'
import { ScenarioError } from './scenario-error.ts'
import { type Scenario, scenarioShape } from './scenario-shape.ts'

/** Reads a scenario from YAML. `source` is what to call it in errors. @throws ScenarioError. */
export function parseScenario(yaml: string, source: string): Scenario {
  const written = writtenIn(yaml, source)
  try {
    const scenario = scenarioShape(written, '')
    // Here already: what nobody could do must not come to light behind the calls of the scenarios before.
    partiesOf(scenario)
    return scenario
  } catch (error) {
    if (error instanceof ScenarioError) throw new ScenarioError(`${source}: ${error.message}`)
    if (error instanceof ModelError) throw new ScenarioError(`${source}: ${complaint(error)}`)
    throw error
  }
}

/** Not every refusal of the model's shapes says in its words which field it is about. */
function complaint({ message, param }: ModelError): string {
  if (param === '') return 'A scenario is an object with a name and a caller.'
  return param === null || message.includes(`'${param}'`) ? message : `${param}: ${message}`
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
