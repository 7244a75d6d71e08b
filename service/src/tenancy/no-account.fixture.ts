/** The carrier account of an installation that has none, for tenants whose document names none either. */
export const NO_ACCOUNT = { account_sid: null, auth_token: null, from_number: null }
