/** How long the name of whoever logs in may be: that of an e-mail address. */
export const LOGIN_NAME = { minLength: 1, maxLength: 254 }

/** How long a password may be that is given to somebody. */
export const NEW_PASSWORD = { minLength: 12, maxLength: 200 }
