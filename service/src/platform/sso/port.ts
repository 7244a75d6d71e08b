/** What only the browser that began a login may know until it ends; 43 characters of base64url each. */
export type LoginSecrets = { state: string; nonce: string; verifier: string }

/** Whom an identity provider vouches for. */
export type Identity = {
  /** Null when the provider tells none. */
  email: string | null
  /** Whether the provider says that the e-mail is theirs. */
  isVerified: boolean
}

/** Somebody else who knows people: they log in there, and come back with a code that is good once. */
export type IdentityProvider = {
  /** Where the browser is to be sent. @throws IdentityFault `failed` when the provider cannot be asked. */
  begin(secrets: LoginSecrets, redirectUri: string): Promise<string>
  /**
   * Who came back.
   *
   * @param callback the address at which they did, its query as it was sent.
   * @throws IdentityFault `refused` when the provider does not vouch for them, `failed` when it cannot be asked or does not
   * answer as it must.
   */
  complete(callback: URL, secrets: LoginSecrets): Promise<Identity>
}

/** Why nobody was vouched for; the message is for the operators' log and holds no secret. */
export class IdentityFault extends Error {
  override readonly name = 'IdentityFault'
  readonly kind: 'refused' | 'failed'

  constructor(kind: IdentityFault['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}
