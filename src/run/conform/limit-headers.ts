/** As the service says that a subscriber's allowance is used up. */
export function limitHeaders(resets: number): Record<string, string> {
  const prefix = 'anthropic-ratelimit-unified';
  return {
    [`${prefix}-status`]: 'rejected',
    [`${prefix}-reset`]: String(resets),
    [`${prefix}-representative-claim`]: 'five_hour',
    [`${prefix}-5h-utilization`]: '1',
    [`${prefix}-5h-reset`]: String(resets),
    [`${prefix}-5h-status`]: 'rejected',
  };
}
