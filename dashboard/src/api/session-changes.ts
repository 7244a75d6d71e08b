import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, api } from './client.ts'
import { sessionQuery } from './session.ts'

type Credentials = { username: string; password: string }

/** Begins a session. */
export function useLogin() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Credentials) => answerOf(api.POST('/api/v1/admin/auth/login', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  })
}

/** Sets the password of somebody who was invited, and begins their session. */
export function useInvitation() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      answerOf(api.POST('/api/v1/admin/auth/invitation', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  })
}

/** Ends the session, and forgets all that was read in it. */
export function useLogout() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => answerOf(api.POST('/api/v1/admin/auth/logout')),
    onSuccess: (session) => {
      client.setQueryData(sessionQuery.queryKey, session)
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
    },
  })
}
