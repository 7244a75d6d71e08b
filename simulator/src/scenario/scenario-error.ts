/** A scenario that cannot be run; the message names the file and what is wrong in it. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
}
