"""What a user is told: findings with evidence, chain and advice, and the words for them."""
