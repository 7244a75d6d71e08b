/** A refusal of the REST surface: the carrier's error number and the HTTP status that goes with it. */
export class RestError extends Error {
  override name = 'RestError'
  code: number
  status: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
    this.status = STATUS[code] ?? 400
  }

  /** The body that the carrier answers with. */
  toJson(): Record<string, unknown> {
    return {
      code: this.code,
      message: this.message,
      more_info: `https://www.twilio.com/docs/errors/${this.code}`,
      status: this.status,
    }
  }
}

/** The numbers whose status is not 400. */
const STATUS: Record<number, number> = { 20003: 401, 20004: 405, 20404: 404, 20429: 429, 20500: 500 }
