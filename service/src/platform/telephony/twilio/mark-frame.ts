/** What stands in JSON as it is. */
const PLAIN = /^[\w.:-]+$/
/** An echo as the carrier spells it, and as it spells it in newer versions. */
const ECHO =
  /^\{"event":"mark","sequenceNumber":"\d+",(?:"streamSid":"[\w.:-]+","mark":\{"name":"([\w.:-]+)"\}\}|"mark":\{"name":"([\w.:-]+)"\},"streamSid":"[\w.:-]+"\})$/
const MAX_ECHO_BYTES = 512

/** The frame that asks the carrier to echo `name`. */
export function markFrame(streamSid: string, name: string): Buffer {
  const isPlain = PLAIN.test(name)
  return isPlain
    ? Buffer.from(`{"event":"mark","streamSid":"${streamSid}","mark":{"name":"${name}"}}`, 'latin1')
    : Buffer.from(JSON.stringify({ event: 'mark', streamSid, mark: { name } }))
}

/** The name in an echo, without parsing it: one comes for each second of the agent's speech. Null when JSON must decide. */
export function echoedName(frame: Buffer): string | null {
  if (frame.length > MAX_ECHO_BYTES) return null
  const echo = ECHO.exec(frame.toString('latin1'))
  return echo?.[1] ?? echo?.[2] ?? null
}
