const PLATFORM = 'https://platform.openai.com'

const QUOTA = `The account of the key has no credit: add some under Billing at ${PLATFORM}. (A ChatGPT subscription is another thing and does not count.)`
const KEY = `OPENAI_API_KEY is not accepted: make a new one at ${PLATFORM}/api-keys, and copy all of it.`
const NAME = 'The key may not use this model, or there is none of this name: try another one with --model.'
const SHAPE =
  'The server does not take the settings that calls are opened with: try --model and --voice, and see that the server speaks the generally available Realtime protocol, not the beta.'
const PLACE = 'OPENAI_REALTIME_URL leads to no realtime server: check it, and whether this machine reaches it.'
const SLOW = 'The server is there and does not answer: see https://status.openai.com and try again.'
const LIMIT =
  'Too many requests for the limits of this account: wait a minute, and raise them before there are many calls.'

/** What to do, by the code with which a session or an answer failed. */
const ADVICE: [codes: RegExp, todo: string][] = [
  [/^(insufficient_quota|billing_\w+|handshake_402)$/, QUOTA],
  [/^(invalid_api_key|missing_api_key|handshake_401|account_deactivated)$/, KEY],
  [/^model_not_found$/, NAME],
  [/^handshake_404$/, `${NAME} Or: ${PLACE}`],
  [/^handshake_403$/, `${KEY} Or the provider serves no customers where this machine is.`],
  [/^unsupported_country_region_territory$/, 'The provider serves no customers where this machine is.'],
  [/^(rate_limit_exceeded|handshake_429)$/, LIMIT],
  [/^(unknown_parameter|invalid_\w+|missing_required_parameter|beta_api_shape_disabled|close_4000)$/, SHAPE],
  [/^(enotfound|eai_again|econnrefused|econnreset|ehostunreach|enetunreach|etimedout|socket_error)$/, PLACE],
  [
    /^(eproto|err_ssl_\w+|\w*cert\w*|\w*self_signed\w*)$/,
    `The connection is not safe: the TLS of the server is not valid. ${PLACE}`,
  ],
  [/^(handshake_timeout|setup_timeout|peer_silent|server_error|handshake_5\d\d)$/, SLOW],
]

/** What to do about a failure of the model's server; a code that nobody knows has a general answer. */
export function modelAdvice(code: string): string {
  const known = ADVICE.find(([codes]) => codes.test(code))
  return known?.[1] ?? 'See https://status.openai.com, or the log of your own server, and try again.'
}
