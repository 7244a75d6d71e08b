/** More of a provider's message helps nobody and fills the log. */
const MAX_MESSAGE_CHARS = 500
/** Keys as providers quote them back, whole or with their middle starred out. */
const KEYS = /\b(?:sk|pk|rk)-[\w*.-]*[\w*]/g

/** Makes what takes the key, and what looks like one, out of a provider's words, and cuts them to 500 characters. */
export function makeRedaction(apiKey: string): (message: string) => string {
  return (message) => {
    const withoutKey = apiKey === '' ? message : message.replaceAll(apiKey, '***')
    return withoutKey.replaceAll(KEYS, '***').slice(0, MAX_MESSAGE_CHARS).toWellFormed()
  }
}
