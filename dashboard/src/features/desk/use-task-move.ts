import { useMutation, useQueryClient } from '@tanstack/react-query'
import { asFailure } from '../../api/failure.ts'
import { deskKey, type Task, taskKey } from './task-queries.ts'

type Move = {
  run: () => Promise<Task>
  /** What the task will be, where nobody can be quicker: shown at once. */
  hoped?: Partial<Task>
}

/** Does something to a task that is shown, and shows what came of it. */
export function useTaskMove(tenantId: string, id: string) {
  const client = useQueryClient()
  const queryKey = taskKey(tenantId, id)
  return useMutation({
    mutationFn: ({ run }: Move) => run(),
    onMutate: async ({ hoped }) => {
      if (!hoped) return undefined
      await client.cancelQueries({ queryKey, exact: true })
      const before = client.getQueryData<Task>(queryKey)
      return before && { before, shown: client.setQueryData<Task>(queryKey, { ...before, ...hoped }) }
    },
    onSuccess: (task) => client.setQueryData<Task>(queryKey, task),
    onError: (_error, _move, hope) => {
      // What was read meanwhile stays.
      if (hope) client.setQueryData<Task>(queryKey, (now) => (now === hope.shown ? hope.before : now))
    },
    // Not waited for: a button is free again when the service has answered.
    onSettled: () => void client.invalidateQueries({ queryKey: deskKey(tenantId) }),
  })
}

/** Whether somebody else was quicker: the task is read again then. */
export function wasQuicker(error: unknown): boolean {
  return asFailure(error).code === 'conflict'
}
